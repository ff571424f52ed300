"""The command ``layoutalg``."""

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status; it is imported now, for its console serves other programs too."""
    from layoutalg.cli.command import main as run

    return run(arguments)
