"""The files of a site of pages with an engine: Pyodide from npm, the scripts of a room, both packages in one archive.

Pyodide is the npm package ``pyodide``, which the caller names: it is no part of this project. A worker unpacks the
archive, which leaves out the command line, the oracle, and what needs files. Pages are texts with places in double
braces, filled in.

Laws: what was written is what stands there; the archive is the same bytes whenever the packages are the same; what is
put into a place is not read again, so that it may hold braces of its own.

>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as place:
...     sizes = write(Path(place), {"a/b.txt": b"one"}, "FOLDER")
...     (Path(place) / "a" / "b.txt").read_bytes(), sizes
(b'one', [('a/b.txt', 3)])
>>> names = ZipFile(BytesIO(archive({"texts/one.md": b"one"}))).namelist()
>>> "descriptors/show/explorer/answer.py" in names, "texts/one.md" in names, any("/cli/" in name for name in names)
(True, True, False)
>>> archive() == archive()
True
>>> fill_template("<p>{{one}}, {{two}}</p>", {"one": "{{two}}", "two": "2"})
'<p>{{two}}, 2</p>'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo
from zlib import compress, crc32

from descriptors.errors import DescriptorError
from layoutalg.files import PAGE_MARK, is_foreign, is_ours, write_whole

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

    >>> source("descriptors.show.browser", "worker.js").startswith("// The engine in a worker")
    True
    """
    return (files(room) / "web" / name).read_text(encoding="utf-8")


def write(folder: Path, contents: Mapping[str, bytes], option: str, operation: str = "site") -> list[tuple[str, int]]:
    """Write files into a folder, which is made if it is not there: all of them, or what was there is left as it was.

    An existing file is replaced only if this program wrote it. A script or an archive has no mark: it is one of ours if
    the index.html beside it is.

    Args:
        folder: where to.
        contents: each file by its name, with slashes.
        option: what the person called the folder, for the refusal.
        operation: what is refused, for the refusal.

    Returns:
        Name and bytes of each file.

    Raises:
        DescriptorError: if a file cannot be written, or the folder has a file of such a name that is not ours.
    """
    try:
        index = folder / "index.html"
        ours = index.exists() and PAGE_MARK in index.read_bytes()
        for name, data in {"index.html": b"", **contents}.items():
            if is_foreign(folder / name, data) and not (ours and not is_ours(data)):
                raise DescriptorError(
                    f"{operation}: {folder / name} exists and was not written by this program; give another folder to "
                    f"{option}, or remove the file"
                )
        for name in contents:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole({folder / name: data for name, data in contents.items()})
    except OSError as error:
        raise DescriptorError(
            f"{operation}: {option} must be a folder that can be written, found {folder}: {error.strerror}"
        ) from error
    return [(name, len(data)) for name, data in contents.items()]


def png(rows: Sequence[Sequence[str]]) -> bytes:
    """Pixels as a PNG file.

    Args:
        rows: the colour of each pixel, ``#rrggbb``, row by row.

    >>> png([["#ffffff"]])[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    lines = b"".join(b"\0" + bytes.fromhex("".join(one[1:] for one in row)) for row in rows)
    size = len(rows[0]).to_bytes(4, "big") + len(rows).to_bytes(4, "big")
    parts = ((b"IHDR", size + bytes((8, 2, 0, 0, 0))), (b"IDAT", compress(lines, 9)), (b"IEND", b""))
    chunks = (
        len(data).to_bytes(4, "big") + name + data + crc32(name + data).to_bytes(4, "big") for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


#: Folders of the packages that answer no question of a page.
LEFT_OUT = ("cli", "oracle", "sweep", "__pycache__")
_KINDS = (".py", ".html", ".css", ".js", ".typed")


def archive(more: Mapping[str, bytes] | None = None) -> bytes:
    """The packages in a zip file.

    Args:
        more: further files of the archive, by their names in it.
    """
    contents_by_path = dict(more or {})
    for package in ("layoutalg", "descriptors"):
        contents_by_path |= dict(_sources(files(package), package))
    return zip_bytes(contents_by_path)


def zip_bytes(contents: Mapping[str, bytes]) -> bytes:
    """Files as a zip file, without the time at which it was made.

    >>> zip_bytes({"a": b"1", "b": b"2"}) == zip_bytes({"b": b"2", "a": b"1"})
    True
    """
    written = BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as archive_file:
        for name, data in sorted(contents.items()):
            entry = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive_file.writestr(entry, data)
    return written.getvalue()


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for one in folder.iterdir():
        if one.is_dir():
            if one.name not in LEFT_OUT:
                yield from _sources(one, f"{name}/{one.name}")
        elif one.name.endswith(_KINDS):
            yield f"{name}/{one.name}", one.read_bytes()


def fill_template(document: str, parts: Mapping[str, str]) -> str:
    """A text whose places hold their parts.

    Args:
        document: the text, with places as ``{{name}}``.
        parts: what stands in each place; more may be given than there are places.

    Raises:
        KeyError: if a place has no part.
    """
    head, *rest = document.split("{{")
    return head + "".join(parts[name] + text for name, _, text in (one.partition("}}") for one in rest))
