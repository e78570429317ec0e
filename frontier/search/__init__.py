"""The search: plans, the work of tasks, the loops over layers and questions, checks and repair."""
