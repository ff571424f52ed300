"""Single instructions of a kernel in PTX: their parts by name, and whether an assembler takes them; findings."""
