"""Claims as SMT-LIB 2 texts for any solver, written from the definitions and independent of the proofs."""
