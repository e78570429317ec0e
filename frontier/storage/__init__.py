"""The places where the files of a run are kept: a directory, or a part of a bucket of an object
store."""
