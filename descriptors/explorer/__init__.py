"""What a page asks of the engine and what it is answered: one function, a server, files that hold both."""
