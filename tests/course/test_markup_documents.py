"""Documents that load nothing: whatever they show stands in them, and only their own script runs."""

from __future__ import annotations

import re
from base64 import b64decode
from hashlib import sha256

from builder.markup import standalone


def test_a_policy_names_the_script_that_stands_in_the_document() -> None:
    html = standalone("One", "<p>text</p>", "slides", ["sheet.css", "slides.css"], "slides.js")
    script = re.search(r"<script>(.*?)</script>", html, re.S)
    named = re.search(r"script-src 'sha256-([^']+)'", html)
    assert script is not None
    assert named is not None
    assert b64decode(named[1]) == sha256(script[1].encode()).digest()


def test_without_a_script_none_may_run() -> None:
    assert "script-src 'none'" in standalone("One", "", "card", ["sheet.css"])


def test_a_title_is_text() -> None:
    assert "<title>a &lt;b&gt;</title>" in standalone("a <b>", "", "card", [])
