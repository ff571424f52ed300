"""What a derivation holds: subtiles and where they lie, the steps from one to the next, K blocks that cross an atom."""
