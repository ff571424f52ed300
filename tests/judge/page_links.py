"""Where the pages of a folder lead to: every link to a file of it, and to a place that the page has."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import urljoin, urlparse


class Links(HTMLParser):
    """What a page leads to and loads, and the places of it that can be led to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag != "use":
            found = [attributes[name] or "" for name in ("href", "src") if name in attributes]
            self.links += found
            self.loads += found if tag != "a" else []
        if attributes.get("id"):
            self.places.append(attributes["id"] or "")


def checked(files: dict[str, bytes], passed: Callable[[str], bool] = lambda link: link.startswith("data:")) -> None:
    """Every link of every page leads to a file of the site, and to a place that the page has.

    Args:
        files: the site.
        passed: the links that are not looked at.
    """
    pages = {name: Links(data.decode()) for name, data in files.items() if name.endswith(".html")}
    for name, page in pages.items():
        assert len(set(page.places)) == len(page.places), f"{name}: an id stands twice"
        for link in page.links:
            if passed(link):
                continue
            url = urlparse(urljoin(f"http://here/{name}", link))
            assert url.netloc == "here" and url.path[1:] in files, f"{name}: {link}"
            if url.fragment:
                assert url.fragment in pages[url.path[1:]].places, f"{name}: {link}"
