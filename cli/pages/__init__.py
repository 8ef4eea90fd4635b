"""Pages that commands show on this machine."""
