"""The lab: a version runs in a PsychoPy window, its events go to disk as they happen."""
