"""Execution of the integer instructions of a kernel: barriers, copies and multiplications of one CTA or cluster."""
