"""What each thread's registers hold of a tile, and how it goes through shared memory."""
