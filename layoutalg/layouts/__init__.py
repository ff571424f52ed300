"""Layouts as values: plain, composed, evaluated one index at a time or all at once."""
