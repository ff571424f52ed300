"""Operands in shared memory and their descriptor words: derived, proved, debugged, filled, emitted."""
