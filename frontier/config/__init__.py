"""A config: its schema, its values, and the configs that come with the program."""
