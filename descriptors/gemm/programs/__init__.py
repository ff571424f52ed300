"""Writers of plans as source code: headers, inner loops and whole kernels."""
