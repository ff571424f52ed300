"""Tables of any function on a shape, as text and HTML: the strokes, which know no layouts."""
