"""The commands on one operand: its tile, its words, its copies, its pictures."""
