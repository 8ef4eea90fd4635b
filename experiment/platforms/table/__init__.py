"""Any table with a mapping of its columns: trials back."""
