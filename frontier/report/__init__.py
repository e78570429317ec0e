"""What people see of a run: progress, log, summary, reports, boards."""
