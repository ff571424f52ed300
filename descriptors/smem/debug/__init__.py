"""From words and layouts to what is wrong with them."""
