"""A run on disk: layers as Zarr arrays, manifests that say what they hold, one writer."""
