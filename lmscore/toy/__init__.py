"""The pocket model, a toy that is trained in a minute, so that every command can be tried anywhere."""
