"""What is an item of a paper, how is it drawn from a seed, and what proves it?"""
