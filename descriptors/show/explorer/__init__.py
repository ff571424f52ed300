"""The explorer, a web page that shows a tile: its questions, answers, server and site."""
