"""Answers on tensor memory as text for a person and as plain data for a program."""
