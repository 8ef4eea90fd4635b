"""The templates that come along, a file a language."""
