"""What a run can tell, and how single positions are solved."""
