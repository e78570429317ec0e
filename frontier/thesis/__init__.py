"""The 2×n puzzle between bounds: what can be proved about its greatest depth without a search."""
