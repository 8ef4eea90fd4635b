"""PsychoPy Builder and Pavlovia: conditions files with a recipe out, data back."""
