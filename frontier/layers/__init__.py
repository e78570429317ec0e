"""A layer in files: parts of its bitmaps or one list, and what is counted of it."""
