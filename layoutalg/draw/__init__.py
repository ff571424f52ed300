"""Pictures of layouts: one grid of offsets (:mod:`layoutalg.draw.grid`), drawn as text or as HTML."""
