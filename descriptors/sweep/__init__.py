"""Many derivations at once: search, lattice, atlas, formulas."""

#: The open modules of this wing, and what they give other wings. From its other modules, other wings import only the
#: public names of `descriptors`.
INTERFACE = {
    "formulas": "the table of formulas as text and as data",
}
