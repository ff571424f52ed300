"""The explorer as a folder of files for any web server: the page, Pyodide, and the packages in one archive.

The engine runs in the reader's browser, in a worker; when the page is looked at nothing is fetched from anywhere else.
Law: the page starts the worker that lies beside it, which asks the module that answers.

>>> "worker.js?answers=descriptors.explorer.page" in page({}, "worker")
True
"""

from __future__ import annotations

from pathlib import Path

from descriptors.browser.archive import archive
from descriptors.browser.folder import runtime, source, write
from descriptors.explorer.page import page


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
    engine = {f"pyodide/{name}": data for name, data in runtime(pyodide).items()}
    made = {"index.html": page(asked, "worker").encode(), "packages.zip": archive()}
    made["worker.js"] = source("descriptors.browser", "worker.js").encode()
    return write(folder, made | engine, "--site")
