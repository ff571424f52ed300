"""What a layout's picture shows: offsets, banks, threads and values, before and after an operation."""
