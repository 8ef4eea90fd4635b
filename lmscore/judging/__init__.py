"""Models judge sentences as people are asked: by probability in templates, by labels after prompts, by generated answers."""
