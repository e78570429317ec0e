"""Estimates of what a run takes, before it is started and while it runs."""
