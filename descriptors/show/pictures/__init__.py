"""Pictures of tiles, words, banks, copies and main loops."""
