"""When two maps over digits, with one exclusive-or after them, are the same map; decided without walking elements."""
