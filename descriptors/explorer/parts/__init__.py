"""What of a tile a page is told: the question as data, the address of an element, the word, steps, what was pasted."""
