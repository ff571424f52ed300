"""The worker's half of the oracle of the algebra: the only modules of this package that import the CuTe DSL."""
