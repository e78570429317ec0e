"""The search: what is planned, what a worker does, the loop over the layers, checks and repair."""
