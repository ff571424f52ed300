"""Pictures of tiles, descriptors, banks, copies, tensor memory and main loops."""
