"""One instruction, one main loop: operands, words, copies, accumulators, budgets and order, proved as a product."""
