"""The worker's half of the oracle of descriptors: the only modules of this package that import the CuTe DSL."""
