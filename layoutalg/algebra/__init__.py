"""CuTe's operations on layouts, one definition a module."""
