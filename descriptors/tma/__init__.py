"""The tensor copies (TMA) that fill a shared-memory tile: tensor map, boxes, and where each box goes.

`tma_plan` reads them off the tile's layout; `TmaPlan.verify` proves them against `descriptors.tma.model`, which knows
the copy engine and no layouts.
"""

from descriptors.tma.limits import TmaError
from descriptors.tma.plan import Box, Dimension, TmaPlan
from descriptors.tma.planner import tma_plan

__all__ = ["Box", "Dimension", "TmaError", "TmaPlan", "tma_plan"]
