"""The order in which tensor-core instructions must be issued, as states and events: ``wgmma`` and ``tcgen05``."""
