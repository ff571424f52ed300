"""Nested tuples of numbers, of which shapes, strides and coordinates are made."""
