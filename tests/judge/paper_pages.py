"""What stands on the pages of a PDF that Chromium prints, as text without spaces: read here, by no tool.

A page names its fonts, each font the table that leads from its glyphs to letters; the letters of a page are those of
the texts that it shows. What is enough for the files of Skia, Chromium's writer, is enough.
"""

from __future__ import annotations

import re
import zlib

_OBJECT = re.compile(rb"^(\d+) 0 obj\n(.*?)\nendobj", re.M | re.S)
_STREAM = re.compile(rb"stream\r?\n(.*)\r?\nendstream", re.S)


def pages(pdf: bytes) -> list[str]:
    """The letters of each page, in the order in which they are drawn, without spaces."""
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    ordered = [body for _, body in sorted(objects.items()) if re.search(rb"/Type\s*/Page\b(?!s)", body)]
    return [_letters(objects, body) for body in ordered]


def _letters(objects: dict[int, bytes], page: bytes) -> str:
    resources = page + b"".join(objects[int(k)] for k in re.findall(rb"/Resources (\d+) 0 R", page))
    fonts = re.search(rb"/Font\s*<<(.*?)>>", resources, re.S)
    tables = {name: _table(objects, int(k)) for name, k in re.findall(rb"/(\w+) (\d+) 0 R", fonts[1] if fonts else b"")}
    (contents,) = re.findall(rb"/Contents (\d+) 0 R", page)
    text, table = [], dict[int, str]()
    for font, shown in re.findall(rb"/(F\w*) [\d.]+ Tf|<([0-9A-Fa-f]+)>", _unpacked(objects[int(contents)])):
        if font:
            table = tables.get(font, {})
        else:
            text += [table.get(int(shown[k : k + 4], 16), "") for k in range(0, len(shown), 4)]
    return "".join("".join(text).split())


def _table(objects: dict[int, bytes], font: int) -> dict[int, str]:
    """Which letters a font's glyphs are."""
    found = re.search(rb"/ToUnicode (\d+) 0 R", objects[font])
    if found is None:
        return {}
    cmap, table = _unpacked(objects[int(found[1])]), dict[int, str]()
    for block in re.findall(rb"beginbfchar(.*?)endbfchar", cmap, re.S):
        for glyph, letters in re.findall(rb"<(\w+)> <(\w+)>", block):
            table[int(glyph, 16)] = bytes.fromhex(letters.decode()).decode("utf-16-be")
    for block in re.findall(rb"beginbfrange(.*?)endbfrange", cmap, re.S):
        for low, high, letter in re.findall(rb"<(\w+)> <(\w+)> <(\w+)>", block):
            for k in range(int(low, 16), int(high, 16) + 1):
                table[k] = chr(int(letter, 16) + k - int(low, 16))
    return table


def _unpacked(body: bytes) -> bytes:
    stream = _STREAM.search(body)
    data = stream[1] if stream else b""
    return zlib.decompress(data) if b"/FlateDecode" in body else data
