"""Registers of a thread: directives, and setmaxnreg."""

from __future__ import annotations

import pytest

from descriptors.check.ptx.ptx_module import allowed, parse, registers


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("", 255),
        (".maxnreg 96", 96),
        (".maxntid 128", 255),
        (".maxntid 384, 1, 1", 168),
        (".reqntid 16,16,2", 128),
        (".maxntid 1024,1,1 .maxnreg 40", 40),
        (".maxntid 128, 1, 1\n.minnctapersm 4", 128),
        (".maxntid 0", 255),
    ],
)
def test_directives_limit_registers(head: str, wanted: int) -> None:
    assert registers(f".visible .entry k(.param .u64 p) {head}") == wanted


def test_setmaxnreg_gives_more_and_never_takes_what_the_directives_give() -> None:
    for number, wanted in ((240, 240), (24, 128)):
        body = f".version 8.8\n.entry k()\n.maxntid 512\n{{ setmaxnreg.dec.sync.aligned.u32 {number}; ret; }}"
        (function,) = parse(body).functions
        assert (registers(function.head), allowed(function)) == (128, wanted)
