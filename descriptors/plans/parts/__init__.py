"""The parts of a main loop: what is asked, operands, scale factors, accumulators, the instruction, the budget."""
