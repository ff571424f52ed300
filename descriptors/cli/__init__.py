"""The command ``descriptors``."""

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None, undecided: int = 0) -> int:
    """Run the command and return its exit status; ``undecided`` is that of an answer that leaves a question open."""
    from descriptors.cli.command import main as run

    return run(arguments, undecided)
