"""Lessons, their exercises, and who says what of an answer is wrong."""
