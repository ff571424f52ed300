"""Write several files atomically: either all of them are replaced or none is.

Each file is first written under a temporary name in its folder. When all are written, they are renamed. A symbolic link
is followed, and the file that it names is replaced. A pipe or a device is written directly.

Invariant: if one of several files cannot be written, no file changes.

>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as name:
...     folder = Path(name)
...     write_whole({folder / "a": b"before"})
...     try:
...         write_whole({folder / "a": b"after", folder / "missing" / "b": b""})
...     except OSError:
...         print((folder / "a").read_bytes(), [path.name for path in folder.iterdir()])
b'before' ['a']
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp


def write_whole(contents: Mapping[Path, bytes]) -> None:
    """Write files together: if one cannot be written, all files keep their previous content.

    Args:
        contents: the content of each file by its path. The folders must exist.

    Raises:
        OSError: if a file cannot be written; it names the path.
        ValueError: if a path is not valid, for example if it contains a null character.
    """
    parts: dict[Path, str] = {}
    path = Path()
    try:
        for path, data in contents.items():
            target = Path(os.path.realpath(path))
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            if target.exists() and not target.is_file():
                target.write_bytes(data)
                continue
            handle, parts[target] = mkstemp(prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent)
            with open(handle, "wb") as file:
                file.write(data)
            os.chmod(parts[target], _mode(target))
        for path, part in parts.items():
            os.replace(part, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error  # a full disk names no file
    finally:
        for part in parts.values():
            with suppress(OSError):
                os.unlink(part)


#: The mark in the head of every HTML page that this project writes.
PAGE_MARK = b'<meta name="generator" content="layoutalg">'
_SVG_START, _TEX_START = b'<svg xmlns="http://www.w3.org/2000/svg" class="la"', b"\\documentclass[tikz]{standalone}"
#: The first bytes of every certificate that ``descriptors derive --certificate`` writes.
CERTIFICATE_MARK = b"(* Certificate, written by layoutalg"
#: Number of bytes at the start of a file that are searched for a mark.
_HEAD = 1 << 14


def is_ours(data: bytes) -> bool:
    """Check if the content of a file is an SVG, TeX document, HTML page or certificate that this project wrote.

    >>> is_ours(PAGE_MARK), is_ours(b"<svg></svg>")
    (True, False)
    """
    head = data[:_HEAD]
    return (
        head.startswith((_SVG_START, CERTIFICATE_MARK))
        or PAGE_MARK in head
        or (head.startswith(_TEX_START) and b"\\definecolor{la-ink}" in head)
    )


def is_foreign(path: Path, data: bytes) -> bool:
    """Check if a path is a file that this project did not write, so that a command must not replace it with data.

    An empty file and a file with the same content may be replaced. Plain text has no mark, so any other text counts as
    foreign.

    Raises:
        OSError: if the file cannot be read.
    """
    if not path.is_file() or path.stat().st_size == 0:
        return False
    present = path.read_bytes()
    return present != data and not is_ours(present)


def _mode(path: Path) -> int:
    """Return the permissions that a file has or would get; only the owner may read a file that ``mkstemp`` creates."""
    with suppress(OSError):
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
