"""Where all indices of a layout lead, at once: offsets as arrays and as plain rows, the reach, gather and scatter."""
