"""Where tasks run, and how they are handed out; what they do is none of this package's business."""
