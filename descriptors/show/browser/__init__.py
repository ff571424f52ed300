"""The engine in a reader's browser: the packages in an archive, Pyodide beside it, a worker that answers a page."""
