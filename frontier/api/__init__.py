"""What `import frontier` offers, and what the commands call."""
