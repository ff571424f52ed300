"""The command ``layoutalg``."""

from layoutalg.cli.command import main

__all__ = ["main"]
