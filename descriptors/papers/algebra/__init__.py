"""Items on layouts and their algebra: lessons 1 to 7."""
