"""Shapes with roles instead of colours, and every face of them: SVG, TikZ, pages, terminals; they know no tables."""
