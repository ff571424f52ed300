"""Papers by seed: items, each with what proves it, marks, sheets."""
