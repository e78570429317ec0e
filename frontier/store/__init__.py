"""A run on disk: layers as Zarr arrays of parts, a ledger that says which are there, one writer."""
