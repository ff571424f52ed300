"""Names of fragments: which there are, what is refused and with what hint, and what is said of each family."""

from __future__ import annotations

import json

import pytest
from each import each
from refusals import refusal

from layoutalg import LayoutError, evaluate, fragment, parse_layout
from layoutalg.cli import main
from layoutalg.fragments.families import FAMILIES, family_of
from layoutalg.fragments.fragment_names import is_name, names


def test_every_name_that_is_listed_gives_a_fragment_of_that_name_and_a_family() -> None:
    forms = set()
    for name in names():
        one = fragment(name)
        assert one.name == name
        assert is_name(name)
        family = family_of(name)
        forms.add(family.form)
        assert family.threads == one.threads
    assert forms == {one.form for one in FAMILIES}


def test_a_name_is_a_layout_wherever_an_expression_is() -> None:
    c = fragment("mma.m16n8k16.C").layout
    assert evaluate("mma.m16n8k16.C") == evaluate(" mma.m16n8k16.D.f32 ") == c
    assert evaluate("mma.m16n8k16.C(5, 2)") == c(5, 2)
    assert evaluate("mma.m16n8k16.C[1]") == c[1]
    assert evaluate("composition((16,8):(8,1), mma.m16n8k16.C)") == evaluate(
        "composition((16,8):(8,1), " + str(c) + ")"
    )
    assert evaluate("size(tcgen05.ld.sync.aligned.16x64b.x4.pack::16b.b32)") == 256


@each(
    ("name", "reason"),
    [
        ("mma.m16n8k16.A", "must say its type, whose width decides, as in f16 (16 bits), s8 (8 bits), f64 (64 bits)"),
        ("mma.m16n8k16.A", "did you mean mma.m16n8k16.A.f16?"),
        ("mma.m16n8k17.C", "did you mean mma.m16n8k16.C?"),
        ("mma.m16n8k16.E", "must be A, B, C or D"),
        ("mma.m16n8k16.SFA", "SFA or SFB of m16n8k32 and m16n8k64"),
        ("mma.m16n8k64.SFA.1X", "scale vector of mma.m16n8k64.SFA must be 2X or 4X, found 1X"),
        ("mma.sp.m16n8k64.E", "must say its type"),
        ("mma.sp.m16n8k4.A", "a shape of mma.sp must be one of m16n8k8"),
        ("mma.sp.m16n8k8.SFA", "A, B, C or D, E, or SFA or SFB of m16n8k64 and m16n8k128"),
        ("mma.m16n8k16.f32.f16.f16.f32", "found no operand of m16n8k16"),
        ("mma.m16n8k8.A.e4m3", "is e4m3, which is not supported; supported: f16, bf16, tf32, f64"),
        ("wgmma.m64n8k16.B", "B lies in shared memory"),
        ("wgmma.m64n12k16.D", "N 8 to 256 by 8"),
        ("wgmma.m128n8k16.D", "must be m64nNkK"),
        ("wgmma.m64n8k32.A.f16", "is f16, which is not supported; supported: e4m3, e5m2, s8, u8"),
        ("ldmatrix.x3", "must be followed by x1, x2 or x4"),
        ("ldmatrix.x4.trans.s8", "must have 16 bits, found 8"),
        ("ldmatrix.x4.16x8", "must fill their tile"),
        ("ldmatrix.x2.foo", "must stand trans, 16x16 or a type"),
        ("tcgen05.ld.16x256b.x64", "16x256b.x32"),
        ("tcgen05.ld.16x256b.x3", "a smaller power of 2"),
        ("tcgen05.st.32x32b.x4.pack16b", "maybe unpack16b"),
        ("tcgen05.cp.32x32b.x4", "must be the name of an atom"),
        ("ldmatrx.x4", "did you mean ldmatrix.x4?"),
        ("wgmma", "must be the name of an atom"),
        ("mma.m16n8.C", "a shape"),
    ],
)
def test_other_names_are_refused_in_words(name: str, reason: str) -> None:
    with pytest.raises(LayoutError, match="fragment: ") as refusal:
        fragment(name)
    assert reason in str(refusal.value)


def test_a_name_is_a_text() -> None:
    with pytest.raises(LayoutError, match="must be a text, found 7"):
        fragment(7)  # type: ignore[arg-type]


def test_names_with_points_are_no_symbols() -> None:
    with pytest.raises(LayoutError):
        parse_layout("a.b:1")
    with pytest.raises(LayoutError):
        evaluate("2*mma.m16n8k16.C")


def test_what_a_fragment_says_of_an_element() -> None:
    one = fragment("wgmma.m64n16k16.D.f32")
    assert (one.threads, one.values, one.shape) == (128, 8, (64, 16))
    assert one.element(33, 5) == (16, 11)
    assert str(one) == "wgmma.m64n16k16.D.f32: 64x16, ((4,8,4),(2,2,2)):((128,1,16),(64,8,512))"


def test_the_command_lists_and_explains(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["atoms"]) == 0
    out = capsys.readouterr().out
    assert all(one.form in out and one.source in out for one in FAMILIES)
    assert main(["atoms", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["names"] == list(names())
    assert [one["form"] for one in data["families"]] == [one.form for one in FAMILIES]
    assert main(["atoms", "mma.m16n8k16.A.f16"]) == 0
    assert "tile     16 x 16 (M x K)" in capsys.readouterr().out
    assert main(["atoms", "mma.m16n8k16.A.f16", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["layout"] == "((4,8),(2,2,2)):((32,1),(16,8,128))"
    assert main(["atoms", "mma.m16n8k16.Q"]) == 2
    assert refusal(capsys.readouterr().err)
