"""The command ``descriptors explore``: serve the interactive explorer, or write it as one page or as a static site."""

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

#: The help of the options that select the view; the options of the tile are those of ``derive``.
_VIEW_HELP = {
    "cell": "Selected element: mn,k.",
    "tab": "Tab: tile, memory, atom, banks, tensor or registers.",
    "colour": "Color of the tile's cells: column, order, bank, atom, subtile or chunk.",
    "word": "Descriptor to compare with that of the selected subtile.",
}


def _option(name: str) -> click.Option:
    """Return the option for a key of a page's query; its value is a text, which the query parses."""
    row = ARGUMENTS.get(name)
    text, has_choices = (row.short, bool(row.choices)) if row else (_VIEW_HELP[name], name in ("tab", "colour"))
    spellings = ["--colour-by", "--color-by", name] if name == "colour" else [f"--{name}"]
    return click.Option(spellings, help=text, shell_complete=complete if has_choices else None)


_PARAMETERS: list[click.Parameter] = [
    _option(field.name) for field in fields(Question) if field.name in ARGUMENTS or field.name in _VIEW_HELP
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
    if question.get("layout"):  # a layout has its own major and swizzle
        question = {"major": "", "swizzle": ""} | question
    if html is not None and site is not None:
        raise click.UsageError("--html and --site cannot be combined")
    if site == "-":
        raise click.UsageError("--site needs a folder, not -; use --html - to write one page to standard output")
    if (site is None) != (pyodide is None):
        raise click.UsageError(
            "--site and --pyodide need each other; use --pyodide node_modules/pyodide, created by `npm install pyodide`"
        )
    if html == "-":
        say(_page(question).removesuffix("\n"))
    elif html is not None:
        write_own("--html", html, _page(question))
        say(noted(f"wrote {printable(html)}"))
    elif site is not None:
        say(noted(_write_site(Path(site), Path(pyodide or ""), question, url)))
    else:
        _serve(question, port, browse=not no_browser)


def _page(question: dict[str, Any]) -> str:
    from descriptors.show.explorer.page import page

    return page(question)


def _write_site(folder: Path, pyodide: Path, question: dict[str, Any], url: str) -> str:
    from descriptors.show.explorer.server import write_site

    files = write_site(folder, pyodide, question, url)
    total = sum(size for _, size in files)
    return f"wrote {len(files)} files, {total} bytes, to {printable(str(folder))}; any web server can serve them"


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
        pass  # Ctrl-C is the normal end
    finally:
        server.server_close()


#: The commands that the group registers.
commands = [explore]
