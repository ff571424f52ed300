"""The commands on what tensor cores have: instructions, their descriptors, tensor memory."""
