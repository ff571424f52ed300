"""Pictures of answers, and the explorer that shows them in a browser."""
