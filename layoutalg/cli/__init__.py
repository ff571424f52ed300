"""The commands ``layoutalg`` and ``descriptors``, as they are installed.

The package ``descriptors`` stands in a folder of its own, at the end of the path, since another distribution has that
top-level name too: both can be installed, and ``import descriptors`` is then the other one. The commands are ours all
the same.
"""

import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None, undecided: int = 0) -> int:
    """Run ``layoutalg`` and return its exit status; it is imported now, for its console serves other programs too.

    Args:
        arguments: the command line after the name; that of this process if left out.
        undecided: the exit status of an answer that leaves a question open.
    """
    _own_packages_first()
    from layoutalg.cli.command import main as run

    return run(arguments, undecided)


def descriptors(arguments: Sequence[str] | None = None, undecided: int = 0) -> int:
    """Run ``descriptors`` and return its exit status.

    Args:
        arguments, undecided: as ``main`` has them.
    """
    _own_packages_first()
    from importlib import import_module

    status: int = import_module("descriptors.cli").main(arguments, undecided)
    return status


def _own_packages_first() -> None:
    """Look for ``descriptors`` beside this package before anywhere else, installed or in a checkout."""
    beside = Path(__file__).resolve().parents[2]
    for place in (beside / "layoutalg-packages", beside):
        if (place / "descriptors" / "smem").is_dir():
            sys.path.insert(0, str(place))
            return
