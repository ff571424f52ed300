"""Whole chains through tensor memory, each with its proof, as text for a person and as plain data for a program."""
