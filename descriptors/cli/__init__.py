"""The command ``descriptors``."""

from descriptors.cli.command import main

__all__ = ["main"]
