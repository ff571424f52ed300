"""Models of what the hardware reads, which share no code with what they judge, and the theorem beside them."""
