"""Answers as pictures: every number drawn is one that an engine gave."""
