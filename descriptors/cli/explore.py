"""The command ``descriptors explore``: the engine in a web page: served, frozen in a file, or a site of files."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from descriptors.cli.terminal import noted, write_own
from descriptors.cli.values import complete
from descriptors.show.explorer.question import Question
from descriptors.smem.derivation.arguments import ARGUMENTS
from layoutalg.cli.console import printable, say

#: What the page shows of the tile, as options; the tile's own are those of ``derive``.
_LOOK = {
    "cell": "The element that is chosen: mn,k.",
    "tab": "What is shown: tile, memory, atom, banks, tensor or registers.",
    "colour": "Of the tile: column, order, bank, atom, subtile or chunk.",
    "word": "A word to compare with that of the chosen subtile.",
}


def _option(name: str) -> click.Option:
    """A key of a question as an option: a text, which the question reads as a page's."""
    row = ARGUMENTS.get(name)
    words, named = (row.short, bool(row.choices)) if row else (_LOOK[name], name in ("tab", "colour"))
    spellings = ["--colour-by", "--color-by", name] if name == "colour" else [f"--{name}"]
    return click.Option(spellings, help=words, shell_complete=complete if named else None)


_PARAMETERS: list[click.Parameter] = [
    _option(field.name) for field in fields(Question) if field.name in ARGUMENTS or field.name in _LOOK
]


@click.command("explore", params=_PARAMETERS)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="PORT",
    help="Port of the local server.  [default: a free port]",
)
@click.option("--no-browser", is_flag=True, help="Do not open a browser; print the address of the page.")
@click.option(
    "--html",
    metavar="FILE",
    help="Write one page with this state to a file that opens from disk; - is standard output. Nothing is served.",
)
@click.option(
    "--site",
    metavar="FOLDER",
    help="Write a static site that runs the engine in the reader's browser. Nothing is served.",
)
@click.option(
    "--pyodide",
    metavar="FOLDER",
    help="With --site: the folder of the npm package pyodide, such as node_modules/pyodide.",
)
@click.option(
    "--url", default="", metavar="URL", help="With --site: the address of the site, for the preview picture of a link."
)
def explore(
    port: int, no_browser: bool, html: str | None, site: str | None, pyodide: str | None, url: str, **body: Any
) -> None:
    """Open the interactive explorer of a tile, its addresses, banks and descriptors in a browser.

    The page is served to this machine only.

    \b
    descriptors explore
    descriptors explore --tile 128x64 --dtype e4m3 --swizzle 64B --mma 64x32 --cell 9,40
    descriptors explore --layout "Sw<3,4,3> o smem_ptr[16b](0x400) o (64,64):(64,1)" --unit cute --mma 64x16
    descriptors explore --html tile.html
    descriptors explore --site public --pyodide node_modules/pyodide

    Ctrl-C ends it.
    """
    question = {name: value for name, value in body.items() if value is not None}
    if question.get("layout"):  # which tells its own major and swizzle
        question = {"major": "", "swizzle": ""} | question
    if html is not None and site is not None:
        raise click.UsageError("--html and --site cannot be combined")
    if site == "-":
        raise click.UsageError("--site needs a folder, not -; use --html - to write one page to standard output")
    if (site is None) != (pyodide is None):
        raise click.UsageError(
            "--site and --pyodide need each other; `npm install pyodide` creates node_modules/pyodide"
        )
    if html == "-":
        say(_page(question).removesuffix("\n"))
    elif html is not None:
        write_own("--html", html, _page(question))
        say(noted(f"wrote {printable(html)}"))
    elif site is not None:
        say(noted(_site(Path(site), Path(pyodide or ""), question, url)))
    else:
        _serve(question, port, browse=not no_browser)


def _page(question: dict[str, Any]) -> str:
    from descriptors.show.explorer.page import page

    return page(question)


def _site(folder: Path, pyodide: Path, question: dict[str, Any], url: str) -> str:
    from descriptors.show.explorer.server import write_site

    written = write_site(folder, pyodide, question, url)
    total = sum(size for _, size in written)
    return f"wrote {len(written)} files, {total} bytes, to {printable(str(folder))}; any web server can serve them"


def _serve(question: dict[str, Any], port: int, *, browse: bool) -> None:
    from descriptors.show.explorer.server import Server

    server = Server(question, port)
    try:
        say(f"the explorer is at {server.url} until Ctrl-C")
        sys.stdout.flush()
        if browse:
            import webbrowser

            webbrowser.open(server.url)
        server.serve_forever()
    except KeyboardInterrupt:
        pass  # how a person ends it
    finally:
        server.server_close()


#: The commands that the group registers.
commands = [explore]
