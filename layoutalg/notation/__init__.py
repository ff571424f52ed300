"""Parsers of CuTe notation, of values that CuTe prints, and of expressions of the algebra."""
