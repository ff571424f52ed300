"""The integers of a kernel, executed: barriers, copies and multiplications of one CTA or cluster as they happen."""
