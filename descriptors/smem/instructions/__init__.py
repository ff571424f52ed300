"""Tables of the tensor-core instructions, the checks against them, and instruction descriptors."""
