"""A plan as a program: a whole kernel with its host side, which checks itself against a plain product."""
