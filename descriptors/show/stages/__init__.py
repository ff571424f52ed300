"""The pictures of the explorer, one module per tab, with the element that each cell of a picture stands for."""
