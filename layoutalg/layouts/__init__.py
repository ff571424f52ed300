"""Layout and swizzle values, and their evaluation for one index or for all."""
