<<<<<<< HEAD
"""A plan as a program: a whole kernel with its host side, which checks itself against a plain product."""
=======
"""A plan as source code: headers, inner loops, whole kernels."""
>>>>>>> main
