"""A browser for each module of tests, and a page for each test that must end without an error of its script."""

from browsers import chromium, page

__all__ = ["chromium", "page"]
