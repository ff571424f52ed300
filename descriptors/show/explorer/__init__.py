"""The page on which a tile is explored: its questions, answers, server and site."""
