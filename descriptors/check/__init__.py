"""PTX as compilers write it, the protocol of asynchronous instructions, and what is wrong with a kernel."""
