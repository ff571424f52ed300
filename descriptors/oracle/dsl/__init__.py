"""The worker's half of the oracle: the only modules that import the CuTe DSL."""
