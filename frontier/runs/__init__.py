"""The runs at a place, by layers and by cosets: their kind, identity, files and progress."""
