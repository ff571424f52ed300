#!/usr/bin/env python3
"""Write the site: README and docs, rules of the checker, conformance corpus, explorer, course.

scripts/make_site.py [--out FOLDER] [--pyodide DIR]      into build/site

It needs `pip install '.[site]'`, and the npm package pyodide (npm install pyodide makes node_modules/pyodide),
with which explorer and course run the engine in the reader's browser. Sphinx, Furo and MyST make the pages: Sphinx's
search needs no server. A page that shows a command which is about a tile gets a link that opens the tile in the
explorer. A link that leads nowhere is an error. Any web server can show the folder. Exit status: 0, 1 for a fault of
the pages, 2 for a folder of something else, 3 for what is not there.
"""

import argparse
import sys
import tomllib
from html import unescape
from pathlib import Path
from re import DOTALL, search, sub
from shutil import rmtree
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [
    str(ROOT),
    str(ROOT / "scripts" / "lib"),
    str(ROOT / "course"),
]  # a checkout runs without being installed

from ended import end  # noqa: E402
from outputs import written as output  # noqa: E402
from site_links import links  # noqa: E402
from site_pages import corpus_pages, rule_pages, save, written  # noqa: E402

from builder.site import write_course  # noqa: E402
from descriptors.errors import DescriptorError  # noqa: E402
from descriptors.show.explorer.server import write_site  # noqa: E402
from layoutalg import __version__  # noqa: E402

LIB = ROOT / "scripts" / "lib" / "site_theme"
SIDEBAR = ("brand", "search", "scroll-start", "tools", "navigation", "scroll-end")


def settings(address: str) -> dict[str, object]:
    """What Sphinx is told; no page loads anything from elsewhere."""
    return {
        "project": "layoutalg",
        "html_title": f"layoutalg {__version__}",
        "html_baseurl": address,
        "html_theme": "furo",
        "extensions": ["myst_parser"],
        "root_doc": "index",
        "language": "en",
        "highlight_language": "none",
        "myst_heading_anchors": 6,
        "suppress_warnings": ["misc.highlighting_failure"],
        "html_static_path": [str(LIB / "static")],
        "html_css_files": ["site.css"],
        "html_show_copyright": False,
        "html_copy_source": False,
        "templates_path": [str(LIB)],
        "html_sidebars": {"**": [f"{'' if one == 'tools' else 'sidebar/'}{one}.html" for one in SIDEBAR]},
    }


def address() -> str:
    """Where the site is published, as pyproject.toml says; "" if it does not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project.get("urls", {}).get("Documentation", ""))


def add_links(app, doctree) -> None:  # type: ignore[no-untyped-def]
    """Links to the explorer below the blocks of code that are about a tile."""
    from docutils import nodes

    up = "../" * app.env.docname.count("/")
    for block in list(doctree.findall(nodes.literal_block)):
        if html := links(block.astext(), up):
            block.parent.insert(block.parent.index(block) + 1, nodes.raw("", html, format="html"))


#: What the theme leaves out for who reads with keys or hears the page.
SAID = {
    '<meta charset="utf-8">': '<meta charset="utf-8"><link rel="icon" href="data:,">',
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    'class="caption" role="heading">': 'class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="Pages">',
    '<div id="search-results">': '<h1 class="visually-hidden">Search</h1><div id="search-results">',
}


def say(out: Path) -> None:
    """Add to Sphinx's pages what the theme leaves out."""
    for path in {*out.rglob("*.html")} - {*out.glob("course/*"), *out.glob("explorer/*")}:
        text = path.read_text(encoding="utf-8")
        for before, after in SAID.items():
            text = text.replace(before, after)
        path.write_text(text, encoding="utf-8")


def found_too(out: Path):  # type: ignore[no-untyped-def]
    """Pages that Sphinx has not made join its search."""
    from docutils import nodes
    from docutils.utils import new_document

    def feed(app):  # type: ignore[no-untyped-def]
        for path in sorted(out.glob("course/[0-9][0-9].html")):
            html = path.read_text(encoding="utf-8")
            title, main = (search(rf"<{tag}[ >].*?</{tag}>", html, DOTALL) for tag in ("title", "main"))
            texts = [
                unescape(sub(r"<(style|script|svg).*?</\1>|<[^>]+>", " ", one[0], flags=DOTALL))
                for one in (title, main)
                if one
            ]
            document = new_document(path.name)
            document += nodes.paragraph("", texts[1])
            name = f"course/{path.stem}"
            # What is no page of these is taken out of the index again.
            app.env.all_docs[name], app.env.titles[name] = 0, nodes.title("", texts[0].strip())
            app.builder.indexer.feed(name, path.name, texts[0].strip(), document)
        return []

    return feed


def build(pages: dict[str, str], files: dict[str, bytes], out: Path) -> int:
    """Have Sphinx write the pages; its exit status."""
    from pygments.lexers.special import TextLexer
    from sphinx.application import Sphinx

    with TemporaryDirectory() as place:
        source = Path(place) / "source"
        save(source, {name: text.encode() for name, text in pages.items()} | files)
        app = Sphinx(
            source, None, out, Path(place) / "trees", "html", confoverrides=settings(address()), status=None,
            warningiserror=True,
        )  # fmt: skip
        app.connect("doctree-read", add_links)
        app.add_lexer("console", TextLexer)  # what a command prints is no program
        app.connect("html-collect-pages", found_too(out))
        app.build(force_all=True)
        say(out)
        return int(app.statuscode)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=output, default=ROOT / "build" / "site")
    places = (ROOT / "node_modules" / "pyodide", Path(sys.prefix) / "node_modules" / "pyodide")
    parser.add_argument("--pyodide", type=Path, default=next((one for one in places if one.is_dir()), places[0]))
    given = parser.parse_args(arguments)
    if given.out.exists() and not (given.out / ".buildinfo").exists() and any(given.out.iterdir()):
        print(f"make_site: --out must be a new folder, or a site, found {given.out}", file=sys.stderr)
        return 2
    rmtree(given.out, ignore_errors=True)
    pages, files = written()
    corpus, data = corpus_pages()
    try:
        write_course(given.out / "course", given.pyodide, home="../index.html")
        write_site(
            given.out / "explorer",
            given.pyodide,
            url=address() and f"{address().rstrip('/')}/explorer",
            home="../index.html",
        )
        status = build(pages | rule_pages() | corpus, files | data, given.out)
        save(given.out, files | data)
    except DescriptorError as error:
        print(f"make_site: {error}", file=sys.stderr)
        return 3
    except ImportError as error:
        print(f"make_site: the site needs {error.name}, found none; pip install '.[site]'", file=sys.stderr)
        return 3
    print(f"wrote {sum(one.is_file() for one in given.out.rglob('*'))} files to {given.out}")
    return status


if __name__ == "__main__":
    end(main, sys.argv[1:])
