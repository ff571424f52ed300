"""Convolutions whose activations stay in tensor memory and move a lane for the next tap, ``tcgen05.shift``."""
