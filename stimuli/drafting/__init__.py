"""Items that a chat model proposes: what it is asked, what it answered, and what is odd in it."""
