"""A new study, the norming of its items, its preregistration."""
