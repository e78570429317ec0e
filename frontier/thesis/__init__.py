"""The 2×n puzzle between bounds: what can be proved of its greatest depth without a search."""
