"""Parse PTX: statements, operands, control flow, constants, multiplications and their descriptors."""
