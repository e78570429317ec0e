"""The output of a run for people: progress, log, summary, reports, boards."""
