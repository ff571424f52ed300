"""The explorer as a folder of files for any web server: the page, Pyodide, and the packages in one archive.

The engine runs in the reader's browser, in a worker; when the page is looked at nothing is fetched from anywhere else.
Pyodide is the npm package ``pyodide``, which the caller names: it is no part of this project. Law: the archive holds
the packages that answer, and nothing of the command line or of the oracle.

>>> from io import BytesIO
>>> names = ZipFile(BytesIO(archive())).namelist()
>>> "descriptors/explorer/answer.py" in names, any("/cli/" in name or "/oracle/" in name for name in names)
(True, False)
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from descriptors.errors import DescriptorError
from descriptors.explorer.page import page, source

#: What of the npm package a page loads.
PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
#: Folders of the packages that answer no question of a page.
LEFT_OUT = ("cli", "oracle", "course", "sweeps", "__pycache__")


def write_site(folder: Path, pyodide: Path, asked: object = None) -> list[tuple[str, int]]:
    """Write the files of the site.

    Args:
        folder: where to; made if it is not there.
        pyodide: the folder of the npm package ``pyodide``.
        asked: the question that the page begins with.

    Returns:
        Name and bytes of each file.

    Raises:
        DescriptorError: if Pyodide is not there, the question has no answer, or a file cannot be written.
    """
    missing = [name for name in PYODIDE if not (pyodide / name).is_file()]
    if missing:
        raise DescriptorError(
            f"explore: --pyodide must be the folder of the npm package pyodide, found {pyodide} without {missing[0]}; "
            "npm install pyodide makes node_modules/pyodide"
        )
    made = {"index.html": page(asked, "worker").encode(), "worker.js": source("worker.js").encode()}
    made["packages.zip"] = archive()
    try:
        (folder / "pyodide").mkdir(parents=True, exist_ok=True)
        for name, data in made.items():
            (folder / name).write_bytes(data)
        for name in PYODIDE:
            data = (pyodide / name).read_bytes()
            (folder / "pyodide" / name).write_bytes(data)
            made[f"pyodide/{name}"] = data
    except OSError as error:
        raise DescriptorError(
            f"explore: --site must be a folder that can be written, found {folder}: {error.strerror}"
        ) from error
    return [(name, len(data)) for name, data in made.items()]


def archive() -> bytes:
    """Both packages as a zip file, the same bytes whenever the packages are the same."""
    written = BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as packed:
        for package in ("layoutalg", "descriptors"):
            _add(packed, files(package), package)
    return written.getvalue()


def _add(packed: ZipFile, folder: Traversable, name: str) -> None:
    for one in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if one.is_dir():
            if one.name not in LEFT_OUT:
                _add(packed, one, f"{name}/{one.name}")
        elif one.name.endswith((".py", ".html", ".css", ".js", ".typed")):
            told = ZipInfo(f"{name}/{one.name}", (1980, 1, 1, 0, 0, 0))
            told.compress_type = ZIP_DEFLATED
            packed.writestr(told, one.read_bytes())
