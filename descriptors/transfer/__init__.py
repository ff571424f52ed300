"""How data get into tensor memory and out of it: registers, shared memory, and the order of a kernel's instructions."""
