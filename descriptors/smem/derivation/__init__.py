"""From a tile to its descriptors: the request, the steps, the advance, the proof, the closed forms."""
