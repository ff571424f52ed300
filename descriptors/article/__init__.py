"""Published texts, claim by claim."""
