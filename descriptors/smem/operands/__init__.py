"""How an operand lies in shared memory: types, swizzles, atoms, layouts, canonical forms."""
