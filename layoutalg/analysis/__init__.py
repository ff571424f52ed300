"""What a layout is over GF(2), and what shared memory takes for an access through it."""
