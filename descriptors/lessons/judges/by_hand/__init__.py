"""What is worked out by hand: remainders and bits, who holds which element, where a swizzle sends a number."""
