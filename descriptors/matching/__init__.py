"""Which canonical form an operand has: the forms, a tile cut into operands, LBO and SBO read off it, or why not."""
