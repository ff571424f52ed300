"""Both packages as one zip file, which a worker unpacks: without the command line, the oracle, and what needs files.

Law: the archive is the same bytes whenever the packages are the same.

>>> from io import BytesIO
>>> names = ZipFile(BytesIO(archive({"texts/one.md": b"one"}))).namelist()
>>> "descriptors/explorer/answer.py" in names, "texts/one.md" in names, any("/cli/" in name for name in names)
(True, True, False)
>>> archive() == archive()
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

#: Folders of the packages that answer no question of a page.
LEFT_OUT = ("cli", "oracle", "course", "sweeps", "__pycache__")
_KINDS = (".py", ".html", ".css", ".js", ".typed")


def archive(more: Mapping[str, bytes] | None = None) -> bytes:
    """The packages in a zip file.

    Args:
        more: further files of the archive, by their names in it.
    """
    found = dict(more or {})
    for package in ("layoutalg", "descriptors"):
        found |= dict(_sources(files(package), package))
    return packed(found)


def packed(contents: Mapping[str, bytes]) -> bytes:
    """Files as a zip file, without the time at which it was made.

    >>> packed({"a": b"1", "b": b"2"}) == packed({"b": b"2", "a": b"1"})
    True
    """
    written = BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as made:
        for name, data in sorted(contents.items()):
            told = ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            told.compress_type = ZIP_DEFLATED
            told.external_attr = 0o644 << 16
            made.writestr(told, data)
    return written.getvalue()


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for one in folder.iterdir():
        if one.is_dir():
            if one.name not in LEFT_OUT:
                yield from _sources(one, f"{name}/{one.name}")
        elif one.name.endswith(_KINDS):
            yield f"{name}/{one.name}", one.read_bytes()
