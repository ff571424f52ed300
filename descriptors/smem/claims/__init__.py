"""Claims as texts that any solver decides (SMT-LIB 2), written from the definitions, apart from the proofs."""
