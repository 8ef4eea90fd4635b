"""The lab: a list runs in a PsychoPy window, its events go to disk as they happen."""
