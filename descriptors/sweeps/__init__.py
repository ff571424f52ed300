"""Many derivations at once: the search, the atlas, the table of formulas."""
