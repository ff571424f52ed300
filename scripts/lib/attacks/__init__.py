"""Fuzzers: what random and hostile input finds, judged by definitions that are written out here a second time."""
