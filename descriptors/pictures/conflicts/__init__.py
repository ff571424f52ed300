"""Banks and swizzles as pictures: which bank serves which address, and what an access costs."""
