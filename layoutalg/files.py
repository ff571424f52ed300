"""Files written whole or not at all, in place of what was there.

Each is written under another name beside its place and put there at the end, when all of them are. A link is followed:
the file that it names is written. What is no file, a pipe or a device, is written through.

Law: where one of several files cannot be written, none is.

>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as name:
...     folder = Path(name)
...     write_whole({folder / "a": b"before"})
...     try:
...         write_whole({folder / "a": b"after", folder / "missing" / "b": b""})
...     except OSError:
...         print((folder / "a").read_bytes(), [one.name for one in folder.iterdir()])
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
    """Write files all together: if one cannot be written, what was there is left as it was.

    Args:
        contents: each file by its path, in a folder that is there.

    Raises:
        OSError: if one cannot be written.
        ValueError: if a path is none.
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


#: What a page of this project has in its head.
PAGE_MARK = b'<meta name="generator" content="layoutalg">'
_SVG_START, _TEX_START = b'<svg xmlns="http://www.w3.org/2000/svg" class="la"', b"\\documentclass[tikz]{standalone}"
#: Bytes of a file in which a mark is searched.
_HEAD = 1 << 14


def is_ours(data: bytes) -> bool:
    """Whether the content of a file is an SVG, a TeX document or an HTML page of this project.

    >>> is_ours(PAGE_MARK), is_ours(b"<svg></svg>")
    (True, False)
    """
    head = data[:_HEAD]
    return (
        head.startswith(_SVG_START)
        or PAGE_MARK in head
        or (head.startswith(_TEX_START) and b"\\definecolor{la-ink}" in head)
    )


def is_foreign(path: Path, data: bytes) -> bool:
    """Check if a path is a file that this project did not write, so that a command must not replace it with data.

    An empty file, and one that has the same content, may be replaced. Plain text has no mark, so that any other text is
    foreign.

    Raises:
        OSError: if the file cannot be read.
    """
    if not path.is_file() or path.stat().st_size == 0:
        return False
    present = path.read_bytes()
    return present != data and not is_ours(present)


def _mode(path: Path) -> int:
    """The permissions that a file of this name has or gets: a temporary file's are its owner's alone."""
    with suppress(OSError):
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
