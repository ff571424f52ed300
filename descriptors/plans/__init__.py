"""One instruction, one main loop: its parts put together in the order of issue, and proved as a product."""
