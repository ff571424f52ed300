"""CuTe's operations on layouts, with one module for each group of related operations."""
