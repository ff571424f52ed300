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


def _mode(path: Path) -> int:
    """The permissions that a file of this name has or gets: a temporary file's are its owner's alone."""
    with suppress(OSError):
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
