"""How layouts are written, and what a text means: CuTe notation, what CuTe prints, expressions."""
