"""What lies at a place, whose it is, and how far it is: runs by layers and runs by cosets."""
