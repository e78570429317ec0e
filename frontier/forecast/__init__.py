"""Estimates of the resources of a run, before it starts."""
