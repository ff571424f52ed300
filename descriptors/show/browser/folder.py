"""Write the files of a site whose pages run the engine: Pyodide from npm, web files, both packages in one archive.

Pyodide is the npm package ``pyodide``. It is not a part of this project, so the caller gives its folder. A worker
unpacks the archive, which leaves out the command line, the oracle and the sweeps. Pages are templates with
placeholders in double braces.

Invariants: a file has the bytes that were written. Equal packages give equal archives. A value that is put into a
placeholder is not scanned again, so it may contain braces.

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

#: The files of the npm package that a page loads.
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")


def runtime(pyodide: Path) -> dict[str, bytes]:
    """Read the files of Pyodide that a page loads.

    Args:
        pyodide: the folder of the npm package.

    Raises:
        DescriptorError: if a file is missing.

    >>> runtime(Path("nowhere"))
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: site: --pyodide is nowhere, which has no pyodide.mjs of the npm package \
pyodide; use node_modules/pyodide, which npm install pyodide creates
    """
    missing = [name for name in PYODIDE if not (pyodide / name).is_file()]
    if missing:
        raise DescriptorError(
            f"site: --pyodide is {pyodide}, which has no {missing[0]} of the npm package pyodide; use "
            "node_modules/pyodide, which npm install pyodide creates"
        )
    return {name: (pyodide / name).read_bytes() for name in PYODIDE}


def source(room: str, name: str) -> str:
    """Return the text of a file in the folder ``web`` of a package.

    Args:
        room: the dotted name of the package.
        name: the name of the file.

    >>> source("descriptors.show.browser", "worker.js").startswith("// The engine in a worker")
    True
    """
    return (files(room) / "web" / name).read_text(encoding="utf-8")


def write(folder: Path, contents: Mapping[str, bytes], option: str, operation: str = "site") -> list[tuple[str, int]]:
    """Write all files into a folder, or leave the folder unchanged. The folder is created if it does not exist.

    An existing file is replaced only if this program wrote it. Scripts and archives have no mark: they count as
    written by this program if the index.html of the folder was.

    Args:
        folder: the folder.
        contents: the bytes of each file, by its path in the folder, with slashes.
        option: the option that names the folder, for an error message.
        operation: the operation, for an error message.

    Returns:
        Path and size in bytes of each file.

    Raises:
        DescriptorError: if a file cannot be written, or a file of that name exists that this program did not write.
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
            f"{operation}: {option} is {folder}, which cannot be written: {error.strerror}"
        ) from error
    return [(name, len(data)) for name, data in contents.items()]


def png(rows: Sequence[Sequence[str]]) -> bytes:
    r"""Return pixels as a PNG file.

    Args:
        rows: the color of each pixel, ``#rrggbb``, row by row.

    >>> png([["#ffffff"]])[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    lines = b"".join(b"\0" + bytes.fromhex("".join(color[1:] for color in row)) for row in rows)
    size = len(rows[0]).to_bytes(4, "big") + len(rows).to_bytes(4, "big")
    parts = ((b"IHDR", size + bytes((8, 2, 0, 0, 0))), (b"IDAT", compress(lines, 9)), (b"IEND", b""))
    chunks = (
        len(data).to_bytes(4, "big") + name + data + crc32(name + data).to_bytes(4, "big") for name, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


#: Folders of the packages that no answer of a page needs.
LEFT_OUT = ("cli", "oracle", "sweep", "__pycache__")
_KINDS = (".py", ".html", ".css", ".js", ".typed")


def archive(more: Mapping[str, bytes] | None = None) -> bytes:
    """Return both packages as a zip file.

    Args:
        more: further files of the archive, by their paths in it.
    """
    contents_by_path = dict(more or {})
    for package in ("layoutalg", "descriptors"):
        contents_by_path |= dict(_sources(files(package), package))
    return zip_bytes(contents_by_path)


def zip_bytes(contents: Mapping[str, bytes]) -> bytes:
    """Return files as a zip file without time stamps, so that equal files give equal bytes.

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
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name not in LEFT_OUT:
                yield from _sources(entry, f"{name}/{entry.name}")
        elif entry.name.endswith(_KINDS):
            yield f"{name}/{entry.name}", entry.read_bytes()


def fill_template(document: str, parts: Mapping[str, str]) -> str:
    """Return a template with its placeholders filled in.

    Args:
        document: the template, with placeholders such as ``{{name}}``.
        parts: the value of each placeholder; unused values are allowed.

    Raises:
        KeyError: if a placeholder has no value.
    """
    head, *rest = document.split("{{")
    return head + "".join(parts[name] + text for name, _, text in (part.partition("}}") for part in rest))
