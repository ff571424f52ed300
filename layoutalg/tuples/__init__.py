"""Nested tuples of numbers: what shapes, strides and coordinates are made of."""
