"""Explanations: the steps from the operands of an operation to its result, or to the condition that fails."""
