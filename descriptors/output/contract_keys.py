"""The keys of a file of expectations: which arguments its sections take, how their values are read, where keys stand.

Law: every argument is one of the function that the section is for.

>>> from inspect import signature
>>> from descriptors import derive, plan
>>> doors = {"operand": derive, "plan": plan}
>>> [sorted(set(ARGUMENTS[kind]) ^ set(signature(door).parameters)) for kind, door in doors.items()]
[['base', 'verify'], ['verify']]
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from descriptors.errors import DescriptorError, brief

#: What a section may ask, by its kind.
ARGUMENTS = {
    "operand": (
        "tile dtype major swizzle mma order arch layout unit operand cp kind cta_group sparse legality capacity atom "
        "base"
    ).split(),
    "plan": (
        "instruction dtype tile stages arch b_dtype d_dtype a_major b_major a_swizzle b_swizzle kind cta_group "
        "scale_dtype scale_vector a_source warpgroups cluster smem legality"
    ).split(),
}
#: Short names of what an operand's JSON has further in.
SHORT = {
    "word": "descriptor.word",
    "layout": "smem_tile",
    "offsets": "offsets_bytes",
    "leading_byte_offset": "descriptor.fields.leading_byte_offset",
    "stride_byte_offset": "descriptor.fields.stride_byte_offset",
}
#: What is written for a section that relies on nothing yet.
DEFAULTS = {
    "operand": ("word", "layout", "advance", "transposed", "alignment_bytes"),
    "plan": (
        "operands.A.word", "operands.A.layout", "operands.B.word", "operands.B.layout", "transaction_bytes",
        "shared_memory.used",
    ),
}  # fmt: skip
_EXTENTS = ("tile", "mma", "order", "cluster")
_SECTION = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def read(text: str) -> dict[str, Any]:
    """The tables of TOML.

    Raises:
        DescriptorError: if it is none; with the line.

    >>> read("a = 1\\nb = ")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: check: the file must be TOML, found Invalid value (at end of document)
    """
    import tomllib  # only where a file is read

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DescriptorError(f"check: the file must be TOML, found {error}") from None


def lines_of(text: str) -> dict[str, int]:
    """The line of every section and key, by its path.

    >>> lines_of('[operand.a]\\ndtype = "bf16"\\nexpect.word = 1')
    {'operand.a': 1, 'operand': 1, 'operand.a.dtype': 2, 'operand.a.expect.word': 3}
    """
    found: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if made := _SECTION.match(line):
            section = _unquoted(made[1])
            found.setdefault(section, number)
            found.setdefault(section.partition(".")[0], number)
        elif made := _KEY.match(line):
            found.setdefault(f"{section}.{_unquoted(made[1])}".lstrip("."), number)
    return found


def _unquoted(path: str) -> str:
    return re.sub(r"\s*\.\s*", ".", re.sub(r"[\"']", "", path))


def arguments(section: str, table: dict[str, Any], lines: dict[str, int]) -> dict[str, Any]:
    """The arguments of a section, extents read.

    Raises:
        DescriptorError: if a key is no argument, or extents are none.

    >>> arguments("operand.a", {"tile": "128x64", "mma": "m64n128k16", "expect": {}}, {})
    {'tile': (128, 64), 'mma': 'm64n128k16'}
    """
    kind, found = section.partition(".")[0], dict[str, Any]()
    for key, value in table.items():
        if key == "expect":
            continue
        where = f"check: line {lines.get(f'{section}.{key}', lines.get(section, 0))}: {section}.{key}"
        if key not in ARGUMENTS[kind]:
            near = get_close_matches(key, ARGUMENTS[kind], n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; {', '.join(ARGUMENTS[kind])}"
            raise DescriptorError(f"{where} must be an argument of {'derive' if kind == 'operand' else 'plan'}{hint}")
        if key in _EXTENTS and isinstance(value, str) and re.fullmatch(r"\d{1,9}([x,]\d{1,9})*", value):
            value = tuple(int(one) for one in re.split("[x,]", value))
        elif not isinstance(value, (str, int, bool, list)):
            raise DescriptorError(f"{where} must be text, a number, true, false or a list, found {brief(value)}")
        found[key] = tuple(value) if isinstance(value, list) else value
    return found
