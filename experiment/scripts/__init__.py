"""A list becomes a script: the screens of its sessions, and the file that lab, server and exports share."""
