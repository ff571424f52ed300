"""Register fragments: which elements of a tile each thread's registers hold, and their memory accesses."""
