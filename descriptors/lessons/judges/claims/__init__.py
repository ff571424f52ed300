"""Is an answer an instance for which a published sentence is false? It is asked of the models and the tables."""
