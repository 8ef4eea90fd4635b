"""Agreement pairs out of treebanks and tables of forms."""
