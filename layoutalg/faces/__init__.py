"""What can be drawn, in every form: SVG, TikZ, pages, terminals, files."""
