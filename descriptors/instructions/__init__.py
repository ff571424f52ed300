"""Which instructions there are, whether one is legal, and its descriptor."""
