"""The command ``descriptors``."""

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    from descriptors.cli.command import main as run

    return run(arguments)
