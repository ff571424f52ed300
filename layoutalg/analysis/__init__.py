"""Layouts as linear maps over GF(2), bank conflicts, and the search for swizzles."""
