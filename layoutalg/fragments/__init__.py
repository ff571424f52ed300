"""What does each thread's register hold of a tile?"""
