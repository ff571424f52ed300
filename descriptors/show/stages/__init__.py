"""What the explorer draws of a tile, tab by tab, and which element each place of a picture stands for."""
