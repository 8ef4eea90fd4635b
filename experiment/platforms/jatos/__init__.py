"""JATOS: study archives out, results back."""
