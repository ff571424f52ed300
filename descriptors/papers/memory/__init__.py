"""Items on shared memory, swizzles and descriptor words: lessons 8 to 13."""
