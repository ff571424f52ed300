"""A derivation as source code: a module for each language, and what all of them need."""
