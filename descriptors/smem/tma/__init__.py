"""The tensor copies (TMA) that fill a shared-memory tile: tensor map, boxes, and where each box goes."""
