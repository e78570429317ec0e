"""The executors that carry out calls: in this process, on workers of this machine, or on a cluster.
They do not know what the calls do."""
