"""Entry points of the installed commands ``layoutalg`` and ``descriptors``.

Another distribution has a top-level package ``descriptors``, too. Our package is therefore installed in a folder at the
end of the path, so that both can be installed; ``import descriptors`` then imports the other one. The command
``descriptors`` always runs our package.
"""

import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None, undecided: int = 0) -> int:
    """Run ``layoutalg`` and return its exit status.

    The command is imported here, because other programs import this package for its console.

    Args:
        arguments: the command line after the name; default: the command line of this process.
        undecided: the exit status of an answer with an open question.
    """
    _own_packages_first()
    from layoutalg.cli.command import main as run

    return run(arguments, undecided)


def descriptors(arguments: Sequence[str] | None = None, undecided: int = 0) -> int:
    """Run ``descriptors`` and return its exit status.

    Args:
        arguments: see ``main``.
        undecided: see ``main``.
    """
    _own_packages_first()
    from importlib import import_module

    status: int = import_module("descriptors.cli").main(arguments, undecided)
    return status


def _own_packages_first() -> None:
    """Put the folder of our ``descriptors``, installed or in a checkout, first on the path."""
    parent = Path(__file__).resolve().parents[2]
    for folder in (parent / "layoutalg-packages", parent):
        if (folder / "descriptors" / "smem").is_dir():
            sys.path.insert(0, str(folder))
            return
