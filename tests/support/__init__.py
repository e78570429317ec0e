"""What several files of tests share.

``reference_…`` are slow and obvious versions of what the package does, written without it. Tests
compare the package with them. The other modules make runs, start servers, and read files.
"""
