"""The engine in a reader's browser: an archive of the packages, Pyodide, and a worker that answers a page."""
