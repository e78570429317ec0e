"""The executors that do calls: here, on workers of this machine, or on a cluster. They know nothing
of what the calls do."""
