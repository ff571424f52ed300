"""What several commands ask in the same words: options, tiles, what was typed in the wrong place."""
