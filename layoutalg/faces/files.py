"""A text into a file, whole or not at all: into a new file beside it, which then takes its place.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     write_whole(Path(folder) / "a.txt", "whole")
...     [path.name for path in Path(folder).iterdir()]
['a.txt']
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp

from layoutalg.errors import LayoutError


def write_whole(path: Path, text: str) -> None:
    """Write a text as UTF-8, in place of what was there; if that fails, what was there is left as it was.

    Raises:
        LayoutError: if it cannot be written; the message says why.
    """
    part = None
    try:
        handle, part = mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(part, _mode(path))
        os.replace(part, path)
    except (OSError, ValueError) as error:
        if part is not None:
            with suppress(OSError):
                os.unlink(part)
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LayoutError(
            f"save: {path} must be a file that can be written, found: {reason}; give another path"
        ) from error


def _mode(path: Path) -> int:
    """The permissions that a file of this name has or gets: a temporary file's are its owner's alone."""
    with suppress(OSError):
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
