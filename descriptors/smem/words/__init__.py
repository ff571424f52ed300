"""Machine words, field by field: the only shifts and masks."""
