"""Descriptor words, instructions and what they say, as text for a person and as plain data for a program."""
