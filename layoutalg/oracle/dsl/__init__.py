"""Modules of the oracle that run in the worker; only they import the CuTe DSL."""
