"""Layouts as values: plain, composed, written, read, looked at, evaluated."""
