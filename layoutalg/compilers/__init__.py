"""What other compilers write of layouts, read: Triton and Gluon, Mosaic GPU, TileLang."""
