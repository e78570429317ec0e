"""A layer in files: parts of its bitmaps or one list, and its counts."""
