"""What participants read besides the materials: one file of texts a section, with all its languages."""
