"""Estimates of what a run takes, before it is started."""
