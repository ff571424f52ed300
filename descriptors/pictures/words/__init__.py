"""Descriptor words as pictures: their bits, the field that moves, what a wrong one does."""
