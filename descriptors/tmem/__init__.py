"""Tensor memory of Blackwell: addresses, allocation, what lies in which cell, and how it gets there and back."""
