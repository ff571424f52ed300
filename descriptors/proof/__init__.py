"""What the hardware does, by models that share no code with what they judge; and the comparison."""
