"""Pictures of tables without layouts: shapes on a canvas, tables of numbers, and all file formats."""
