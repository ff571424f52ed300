"""Pictures without layouts: shapes on a canvas, tables of numbers, and every file format."""
