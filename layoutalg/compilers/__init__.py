"""Parsers of the layouts that other compilers print: Triton and Gluon, Mosaic GPU, TileLang."""
