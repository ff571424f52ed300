"""A plan as source code: headers, inner loops, whole kernels."""
