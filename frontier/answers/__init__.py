"""Answers from a run."""
