"""How a script ends: as the programs of the packages do, a reader that is gone is no error.

The programs end in ``layoutalg.cli.console``, which needs Click; a script may need nothing that is installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn


def end(main: Callable[..., int | None], *arguments: object) -> NoReturn:
    """Run a script and leave with its status, or with 0 if whoever reads its output has seen enough."""
    try:
        status = main(*arguments)
    except SystemExit:  # argparse has told its help
        if not _reader_is_gone():
            raise
        status = 0
    except BrokenPipeError:
        if not _reader_is_gone("\n"):  # it is a child's pipe that broke; a line more tells the two apart
            raise
        status = 0
    sys.exit(0 if _reader_is_gone() else status)


def _reader_is_gone(more: str = "") -> bool:
    """Whether what is printed goes nowhere: what is left of it is dropped, or Python would complain as it ends."""
    try:
        if sys.stdout is not None:  # closed before the script began
            sys.stdout.write(more)
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False
