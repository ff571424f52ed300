"""Shapes with roles instead of colours, put together on a canvas; they know no tables and no file formats."""
