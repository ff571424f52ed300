"""Who says what of an answer is wrong? Each judge works by the definition, by enumeration or by the read model."""
