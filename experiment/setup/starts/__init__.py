"""What `gardenpath new` writes: a file for each kind of study, the frames around it, and example sentences by language."""
