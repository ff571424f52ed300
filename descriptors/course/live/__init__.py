"""The lessons in a browser: cells that run, answers that are judged, and the folder that holds it all."""
