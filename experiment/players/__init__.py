"""What runs a session: the page in a browser, the PsychoPy window in the lab."""
