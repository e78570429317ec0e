"""A layer in files, as parts of its bitmaps or as one list, and its counts."""
