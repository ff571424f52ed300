"""What a derivation is asked for: a tile and the instruction that reads it, checked and typed."""
