"""What a session holds: its events, their validation, the records and tables that they become, and who takes part."""
