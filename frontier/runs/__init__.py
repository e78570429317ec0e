"""What lies at a place, which run that is, and how far it is: runs by layers and by cosets."""
