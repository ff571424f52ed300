"""A tile and its derivation as text for a person and as plain data for a program."""
