"""Judges of answers: each finds the mistake by the definition, by enumeration or by the read model."""
