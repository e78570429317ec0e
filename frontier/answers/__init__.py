"""What a run can tell."""
