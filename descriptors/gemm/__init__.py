"""One instruction and its main loop, whole, and the programs written from it."""
