"""The files of a site of pages with an engine: Pyodide from npm, the scripts of a room, and how a folder is written.

Pyodide is the npm package ``pyodide``, which the caller names: it is no part of this project. Law: what was written is
what stands there.

>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as place:
...     told = write(Path(place), {"a/b.txt": b"one"}, "FOLDER")
...     (Path(place) / "a" / "b.txt").read_bytes(), told
(b'one', [('a/b.txt', 3)])
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from descriptors.errors import DescriptorError

#: What of the npm package a page loads.
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


def runtime(pyodide: Path) -> dict[str, bytes]:
    """The files of Pyodide that a page loads.

    Args:
        pyodide: the folder of the npm package.

    Raises:
        DescriptorError: if one of them is not there.

    >>> runtime(Path("nowhere"))
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: site: --pyodide must be the folder of the npm package pyodide, found nowhere \
without pyodide.mjs; npm install pyodide makes node_modules/pyodide
    """
    missing = [name for name in PYODIDE if not (pyodide / name).is_file()]
    if missing:
        raise DescriptorError(
            f"site: --pyodide must be the folder of the npm package pyodide, found {pyodide} without {missing[0]}; "
            "npm install pyodide makes node_modules/pyodide"
        )
    return {name: (pyodide / name).read_bytes() for name in PYODIDE}


def source(room: str, name: str) -> str:
    """A file of the folder ``web`` of a room.

    >>> source("descriptors.browser", "worker.js").startswith("// The engine in a worker")
    True
    """
    return (files(room) / "web" / name).read_text(encoding="utf-8")


def write(folder: Path, contents: Mapping[str, bytes], option: str) -> list[tuple[str, int]]:
    """Write files into a folder, which is made if it is not there.

    Args:
        folder: where to.
        contents: each file by its name, with slashes.
        option: what the person called the folder, for the refusal.

    Returns:
        Name and bytes of each file.

    Raises:
        DescriptorError: if a file cannot be written.
    """
    try:
        for name, data in contents.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
    except OSError as error:
        raise DescriptorError(
            f"site: {option} must be a folder that can be written, found {folder}: {error.strerror}"
        ) from error
    return [(name, len(data)) for name, data in contents.items()]
