"""Many derivations at once: search, lattice, atlas, formulas."""
