"""Answers from a run, and solutions of single positions."""
