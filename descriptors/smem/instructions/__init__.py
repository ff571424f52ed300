"""Which instructions there are, and whether one is legal."""
