"""PTX as compilers write it: statements, functions, control flow, and the constants that can be folded out of it."""
