"""Shortest solutions of single positions."""
