"""Scale factors of the block-scaled products of Blackwell: their codes, their memory, their words, and the product."""
