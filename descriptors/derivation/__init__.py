"""From a tile to its descriptors: the steps, the advance, the proof, the closed forms."""
