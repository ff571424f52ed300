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
        ("mma.m16n8k16.A", "depends on the width of the type: f16 (16 bits), s8 (8 bits), f64 (64 bits)"),
        ("mma.m16n8k16.A", "did you mean mma.m16n8k16.A.f16?"),
        ("mma.m16n8k17.C", "did you mean mma.m16n8k16.C?"),
        ("mma.m16n8k16.E", "there is no operand E of mma.m16n8k16; supported: A, B, C, D"),
        (
            "mma.m16n8k16.SFA",
            "there is no operand SFA of mma.m16n8k16; supported: A, B, C, D, and SFA, SFB of m16n8k32 and m16n8k64",
        ),
        ("mma.m16n8k64.SFA.1X", "mma.m16n8k64.SFA has no scale vector 1X; supported: 2X and 4X"),
        ("mma.sp.m16n8k64.E", "mma.sp.m16n8k64.E has no type"),
        ("mma.sp.m16n8k4.A", "m16n8k4 is not a shape of mma.sp; supported: m16n8k8"),
        ("mma.sp.m16n8k8.SFA", "of mma.sp.m16n8k8; supported: A, B, C, D, E, and SFA, SFB of m16n8k64 and m16n8k128"),
        ("mma.m16n8k16.f32.f16.f16.f32", "no operand follows the shape of mma.m16n8k16"),
        ("mma.m16n8k8.A.e4m3", "e4m3 is not a type of mma.m16n8k8.A; supported: f16, bf16, tf32, f64"),
        ("wgmma.m64n8k16.B", "wgmma has no operand B in registers; supported: A, D; B is in shared memory"),
        ("wgmma.m64n12k16.D", "m64n12k16 is not a shape of wgmma; supported: m64nNkK with N = 8, 16, ..., 256"),
        ("wgmma.m128n8k16.D", "m128n8k16 is not a shape of wgmma; supported: m64nNkK"),
        ("wgmma.m64n8k32.A.f16", "f16 is not a type of wgmma.m64n8k32.A; supported: e4m3, e5m2, s8, u8"),
        ("ldmatrix.x3", "x3 follows ldmatrix; supported: x1, x2 or x4"),
        ("ldmatrix.x4.trans.s8", "transposes 8x8 matrices of 16-bit elements, not of 8-bit elements"),
        ("ldmatrix.x4.16x8", "4 matrices of 8x8 do not fill a tile of (16, 8)"),
        ("ldmatrix.x2.foo", "'foo' follows ldmatrix.x2; supported: trans, a tile such as 16x16 and a type"),
        ("tcgen05.ld.16x256b.x64", "16x256b.x64 is not a shape of tcgen05.ld; supported: 32x32b.x128"),
        ("tcgen05.ld.16x256b.x3", "smaller powers of 2"),
        ("tcgen05.st.32x32b.x4.pack16b", "supported: a shape, xN and maybe unpack16b"),
        ("tcgen05.cp.32x32b.x4", "is not the name of a fragment"),
        ("ldmatrx.x4", "did you mean ldmatrix.x4?"),
        ("wgmma", "is not the name of a fragment"),
        ("mma.m16n8.C", "m16n8 is not a shape"),
    ],
)
def test_other_names_are_refused_in_words(name: str, reason: str) -> None:
    with pytest.raises(LayoutError, match="fragment: ") as refusal:
        fragment(name)
    assert reason in str(refusal.value)


def test_a_name_is_a_text() -> None:
    with pytest.raises(LayoutError, match="7 is not a name"):
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
