"""A derived tile and its parts as pictures: atoms, subtiles, chunks, bytes."""
