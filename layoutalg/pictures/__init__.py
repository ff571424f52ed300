"""Pictures of layouts: offsets, banks, threads and values, before and after an operation."""
