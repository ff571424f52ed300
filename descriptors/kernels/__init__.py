"""Whole kernels: every tensor-core instruction of a PTX text held against what it must be, and told as a story."""
