"""How an operand lies in shared memory: types, atoms, layouts, canonical forms."""
