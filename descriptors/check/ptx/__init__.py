"""A PTX text read: statements, operands, control flow, constants, multiplications and their words."""
