"""What is an item of a paper? How it is drawn from a seed, and what proves it."""
