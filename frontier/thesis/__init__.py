"""Lower and upper bounds on the greatest depth of the 2×n puzzle."""
