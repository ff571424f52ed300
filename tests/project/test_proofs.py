"""The folder ``proofs``: its definitions are those of the Python code, and its proofs reject faulty definitions.

Coq proves theorems about a transcription. These tests evaluate the transcription on random inputs and compare it with
the read model, the derivation and the algebra in Python.
"""

from __future__ import annotations

import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from coq import COMPILED, PROOFS, compile_proofs, evaluate, integers, layout_text, needs_coq, run_coq
from places import ROOT
from seeds import seed_of_this_run

from descriptors import Derivation, DescriptorError, derive
from descriptors.smem.operands.operand import ELEMENT_TYPES, SwizzleMode
from descriptors.smem.proof.read_model import read_rows
from descriptors.smem.words.descriptor import smem_word, word_format
from layoutalg import Layout, LayoutError, coalesce, complement, composition, left_inverse, size
from layoutalg.layouts.plain_composition import ExtendedLayout

pytestmark = needs_coq

ARCHITECTURES = ("sm90", "sm100", "sm107")
MODES = {"none": "No_swizzle", "32B": "B32", "64B": "B64", "128B": "B128", "128B_BASE32B": "B128_base32"}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    compile_proofs()


@pytest.fixture
def draw() -> random.Random:
    return random.Random(seed_of_this_run())


def random_word(draw: random.Random, arch: str) -> int:
    """A word whose fields are random; one in eight has a version, code or bit without meaning."""
    word = draw.getrandbits(14) | draw.getrandbits(14) << 16 | draw.getrandbits(14) << 32 | draw.getrandbits(3) << 49
    if arch == "sm90":
        return word | draw.getrandbits(2) << 62 | draw.getrandbits(3) << 46
    word |= 1 << 46 | draw.choice((0, 1, 2, 4, 6)) << 61
    if draw.random() < 0.3:  # LBO mode 1, mostly as PTX allows it
        word = word & ~(7 << 61 | 7 << 49 | 7 << 16) | 2 << 61 | 1 << 52
    if draw.random() < 0.125:
        word ^= 1 << draw.choice((46, 47, 49, 53, 61, 62, 63, 52, 17))
    return word | (draw.getrandbits(1) << 15 | draw.getrandbits(1) << 31 if arch == "sm107" else 0)


def test_coq_reads_from_the_addresses_of_the_read_model(draw: random.Random, tmp_path: Path) -> None:
    cases, expected = list[str](), list[list[int]]()
    types = ("f16", "bf16", "tf32", "s1z4m11", "e4m3", "e5m2", "s8", "u8", "e2m3", "e3m2", "e2m1_unpacksmem", "e2m1")
    for _ in range(700):
        arch, dtype, major = draw.choice(ARCHITECTURES), draw.choice(types), draw.choice(("K", "MN"))
        word, shape = random_word(draw, arch), (draw.randint(1, 40), draw.randint(1, 50))
        try:
            rows = read_rows(word, arch, dtype=dtype, major=major, shape=shape, in_bits=True)
        except DescriptorError:
            rows = None
        # If the shape is refused because of its extent of K, its last element is.
        elements = [(shape[0] - 1, shape[1] - 1)]
        elements += [(draw.randrange(shape[0]), draw.randrange(shape[1])) for _ in range(4 if rows else 0)]
        cases.append(f"at_ {arch.capitalize()} {word:#x} {dtype} {major} {[*elements]}".replace(",", ";"))
        expected.append([rows[i][k] if rows else -1 for i, k in elements])
    function = "fun a w e mj => map (fun c => match read a w e mj (fst c) (snd c) with Some x => x | None => -1 end)"
    texts = [re.sub(r"\((\d+); (\d+)\)", r"(\1, \2)", case) for case in cases]
    (text,) = evaluate(tmp_path, "ReadModel", f"let at_ := {function} in [{'; '.join(texts)}]")
    answers = [integers(part) for part in re.findall(r"\[([^\[\]]+)\]", text)]
    assert sum(map(len, answers)) > 2000
    assert 20 < expected.count([-1]) < 400
    wrong = [case for case, answer, right in zip(cases, answers, expected, strict=True) if answer != right]
    assert wrong == []


def random_tile(draw: random.Random) -> tuple[Derivation, dict[str, Any]]:
    """A tile of atoms of any type, and its numbers of atoms, stages and base."""
    arch, element = draw.choice(ARCHITECTURES), draw.choice(sorted(ELEMENT_TYPES.values(), key=str))
    major, mode = draw.choice(("K", "MN")), draw.choice(list(SwizzleMode))
    while mode is SwizzleMode.B128_BASE32B and (arch == "sm90" or major == "K"):
        mode = draw.choice(list(SwizzleMode))
    thin, swizzled = mode is SwizzleMode.B128_BASE32B, mode is not SwizzleMode.NONE
    height = draw.choice((4, 8)) if thin else 8
    line, per_16_bytes = mode.span_bytes * 8 // element.storage_bits, element.per_16_bytes
    if major == "K":
        atom, reads = (
            (8, line),
            (8 * draw.choice((1, 2, 8)), min(line, 2 * per_16_bytes) if swizzled else 2 * per_16_bytes),
        )
    else:
        atom, reads = (line, height), (line * draw.choice((1, 2)), height * (1 if thin and height == 8 else 2))
    copies = [draw.randint(1, 2) * max(1, reads[i] // atom[i]) for i in (0, 1)]
    stages, order = draw.randint(1, 3), draw.choice(((0, 1, 2), (1, 0, 2)))
    base = draw.randint(0, 20) * (128 if swizzled else 16)
    d = derive(
        (atom[0] * copies[0], atom[1] * copies[1], stages), element, major, mode, reads, arch=arch, order=order,
        atom="MN_SW128_32B_4ROWS" if height == 4 else None, legality="off", verify=False, capacity=None,
    )  # fmt: skip
    return d, {"height": height, "copies": copies, "stages": stages, "base": base}


def test_closed_forms_and_five_steps_are_those_of_derive(draw: random.Random, tmp_path: Path) -> None:
    forms, steps, expected = list[str](), list[str](), list[tuple[Derivation, int, list[int]]]()
    while len(expected) < 300:
        try:
            d, more = random_tile(draw)
        except DescriptorError:  # two atoms of the thin swizzle stacked MN first: K takes two steps
            continue
        counts = [size(mode) for mode in d.advance]
        subtile = tuple(draw.randrange(count) for count in counts)
        try:
            word = d.word(*subtile, base=more["base"])
        except DescriptorError:  # beyond the field
            continue
        i0, j0 = subtile[0] * d.mma[0], subtile[1] * d.mma[1]
        mode, order = MODES[str(d.swizzle)], "MN_first" if d.order[0] == 0 else "K_first"
        tile = f"{d.major} {d.element} {mode} {more['height']} {order} {more['copies'][0]} {more['copies'][1]}"
        place = f"{more['stages']} {subtile[2]} {more['base']} {i0} {j0}"
        forms.append(f"encode {word_format(d.arch).capitalize()} (derived {tile} {place})")
        atoms = f"(atom {d.major} {d.element} {mode} {more['height']})"
        modes = f"tile_to_shape {atoms} {order} {more['copies'][0]} {more['copies'][1]} {more['stages']}"
        steps.append(
            f"let '(r, c, _) := {modes} in steps {d.major} {d.element} {mode} r c {d.mma[0]} {d.mma[1]} "
            f"{subtile[0]} {subtile[1]}"
        )
        match, start = d.match, d.advance(subtile[0], subtile[1], 0)
        expected.append((d, word, [match.leading_byte_offset // 16, match.stride_byte_offset // 16, start]))
    # A result of the five steps as a list, empty if there is none.
    function = (
        "(fun mj e m r c R C x y => match five_steps mj e m r c R C with Some s => [lbo_units s; sbo_units s; "
        "value (advance_rows s) x + value (advance_columns s) y] | None => [] end)"
    )
    words_text, steps_text = evaluate(
        tmp_path, "ReadModel Words Layouts Family Steps", f"[{'; '.join(forms)}]",
        f"let steps := {function} in [{'; '.join(f'({text})' for text in steps)}]",
    )  # fmt: skip
    words = integers(words_text)
    results = [integers(part) for part in re.findall(r"\[([^\[\]]*)\]", steps_text)]
    assert len(words) == len(results) == len(expected)
    for (d, word, numbers), word_in_coq, result in zip(expected, words, results, strict=True):
        assert not (word ^ word_in_coq) & ~d.dont_care_mask(), (str(d), hex(word), hex(word_in_coq))
        assert result == numbers, (str(d), result, numbers)


def test_ignored_bits_are_the_dont_care_bits_and_those_of_no_field(draw: random.Random, tmp_path: Path) -> None:
    masks, expected = list[str](), list[int]()
    while len(expected) < 200:
        try:
            d, _ = random_tile(draw)
        except DescriptorError:
            continue
        kind, mode = word_format(d.arch), MODES[str(d.swizzle)]
        masks.append(f"ignored {kind.capitalize()} {mode} {d.major} {d.element} {d.mma[0]} {d.mma[1]}")
        expected.append(d.dont_care_mask() | smem_word(d.arch).unknown_bits((1 << 64) - 1))
    (answer,) = evaluate(tmp_path, "ReadModel IgnoredBits", f"[{'; '.join(masks)}]")
    assert integers(answer) == expected


def random_layout(draw: random.Random) -> list[tuple[int, int]]:
    """Modes whose strides often continue one another."""
    modes, stride = list[tuple[int, int]](), 1
    for _ in range(draw.randint(1, 4)):
        extent = draw.choice((1, 2, 3, 4, 6, 8))
        modes.append((extent, stride))
        stride *= extent * draw.choice((1, 1, 1, 2, 3))
    if draw.random() < 0.4:
        draw.shuffle(modes)
    return modes


def as_layout(modes: list[tuple[int, int]]) -> Layout:
    return Layout(tuple(extent for extent, _ in modes), tuple(stride for _, stride in modes))


def values(modes: list[tuple[int, int]], count: int, step: int = 1) -> list[int]:
    """The values at multiples of an index; the last mode continues beyond its extent."""
    offsets = []
    for i in range(0, count * step, step):
        total, rest = 0, i
        for number, (extent, stride) in enumerate(modes):
            digit = rest if number == len(modes) - 1 else rest % extent
            total, rest = total + digit * stride, rest // extent
        offsets.append(total)
    return offsets


def test_the_operations_are_those_of_layoutalg(draw: random.Random, tmp_path: Path) -> None:
    cases = [(random_layout(draw), draw.choice((2, 3, 4, 6, 8)), draw.choice((1, 2, 3, 4, 8))) for _ in range(250)]
    texts = [f"({layout_text(modes)}, {n}, {d})" for modes, n, d in cases]
    functions = (
        "coalesce l", "match compose_mode l n d with Some r => r | None => [] end",
        "complement (coalesce l) (size l * n)", "left_inverse (weighted 1 (coalesce l))",
        "filter (fun b => negb (snd b =? 0)) (boundaries 1 (coalesce l))",
    )  # fmt: skip
    imports = "ReadModel Layouts Coordinates Coalesce Composition Boundaries Complement Inverse"
    answers = evaluate(
        tmp_path, imports,
        *(f"let one := (fun '(l, n, d) => {text}) in map one [{'; '.join(texts)}]" for text in functions),
    )  # fmt: skip
    lists = []
    for answer in answers:
        parts = re.findall(r"\[((?:\(-?\d+, -?\d+\)(?:; )?)*)\]", answer)
        numbers = [integers(part) for part in parts]
        lists.append([list(zip(part[::2], part[1::2], strict=True)) for part in numbers])
        assert len(lists[-1]) == len(cases)
    composed = inverted = 0
    for (modes, n, d), joined, part, gaps, inverse, edges in zip(cases, *lists, strict=True):
        layout = as_layout(modes)
        assert as_layout(joined or [(1, 0)]) == Layout(*flat(coalesce(layout))), modes
        assert edges == ExtendedLayout([n for n, _ in joined], [t for _, t in joined]).boundaries, modes
        if part:
            composed += 1
            assert values(part, n) == values(modes, n, d), (modes, n, d)
            assert values(part, n) == values_of(composition(layout, Layout(n, d))), (modes, n, d)
        in_order = sorted(((extent, stride) for extent, stride in modes if extent > 1), key=lambda mode: mode[1])
        if in_order == [mode for mode in modes if mode[0] > 1]:
            right = complement(layout, size(layout) * n)
            assert values(gaps, size(right)) == values_of(right), modes
            try:
                right = left_inverse(layout)
            except LayoutError:
                continue
            inverted += 1
            assert values(inverse, size(right)) == values_of(right), modes
    assert composed > 100 and inverted > 30


def nested_text(shape: Any, stride: Any) -> str:
    """Write a nested layout as a tree."""
    if isinstance(shape, int):
        return f"(Leaf {shape} ({stride}))"
    first, *others = [nested_text(n, d) for n, d in zip(shape, stride, strict=True)]
    return f"(Node {first} {''.join(f'(Mode {text} ' for text in others)}End{')' * len(others)})"


def test_nested_layouts_are_those_of_layoutalg(draw: random.Random, tmp_path: Path) -> None:
    layouts = []
    for _ in range(60):
        (a, d), (b, e), (c, f), (n, g) = ((draw.randint(1, 4), draw.randint(-9, 9)) for _ in range(4))
        layouts.append(
            draw.choice((Layout(((a, b), (c, n)), ((d, e), (f, g))), Layout((a, (b, (c, n))), (d, (e, (f, g))))))
        )
    texts = [f"({nested_text(layout.shape, layout.stride)}, {size(layout)})" for layout in layouts]
    function = "fun '(t, n) => map (fun i => nested_value t (Z.of_nat i)) (seq 0 (Z.to_nat n))"
    (answer,) = evaluate(tmp_path, "ReadModel Layouts Nested", f"map ({function}) [{'; '.join(texts)}]")
    tables = [integers(part) for part in re.findall(r"\[([^\[\]]+)\]", answer)]
    assert tables == [values_of(layout) for layout in layouts]


def flat(layout: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape: Any = layout.shape
    stride: Any = layout.stride
    return (shape, stride) if isinstance(shape, tuple) else ((shape,), (stride,))


def values_of(layout: Layout) -> list[int]:
    return [layout(i) for i in range(size(layout))]


#: Faulty variants of the definitions: the file, the change, and the files to compile, of which the last one fails.
FAULTS = {
    "the codes of 32B and 64B are exchanged": (
        "ReadModel", "2 => Some B64 | _ => Some B32 end\n", "2 => Some B32 | _ => Some B64 end\n",
        ("Words",),
    ),
    "the exclusive-or takes the offset instead of the absolute address": (
        "ReadModel", "(start f + along f mj q + across f mj (outer mj i k))",
        "(along f mj q + across f mj (outer mj i k)) + 8 * start f", ("Canonical",),
    ),
    "an MN-major operand without a swizzle has LBO and SBO exchanged": (
        "ReadModel", "(if swizzled (mode f) then leading f else stride f)\n  end.",
        "leading f\n  end.", ("Canonical", "IgnoredBits"),
    ),
    "the pattern starts at a multiple of 64 bytes": (
        "Canonical", "then p mod 128 = 0 /\\", "then p mod 64 = 0 /\\", ("Canonical",),
    ),
    "SBO is the distance along K": (
        "Family", "  | _, _ => mn_bytes\n", "  | _, _ => k_bytes\n", ("Family",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_faulty_definition_is_rejected(name: str, tmp_path: Path) -> None:
    changed, present, replacement, files = FAULTS[name]
    shutil.copytree(COMPILED, tmp_path, dirs_exist_ok=True)
    text = (PROOFS / f"{changed}.v").read_text(encoding="utf-8")
    assert text.count(present) == 1
    (tmp_path / f"{changed}.v").write_text(text.replace(present, replacement), encoding="utf-8")
    order = [*({changed} - set(files)), *files]
    outcomes = [run_coq(tmp_path / f"{file}.v", tmp_path).returncode for file in order]
    assert outcomes[-1] != 0
    if changed not in files:
        assert outcomes[0] == 0  # the variant is a valid definition


def test_each_theorem_that_a_docstring_or_page_names_exists() -> None:
    """A file ``proofs/X.v`` that a text names exists, and so do the theorems named beside it."""
    theorems = {
        path.stem: set(re.findall(r"^(?:Theorem|Lemma) (\w+)", path.read_text(encoding="utf-8"), re.M))
        for path in PROOFS.glob("*.v")
    }
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "layoutalg").rglob("*.py")]
    named = [
        sentence
        for text in texts
        for sentence in re.findall(r"Proof[^:]*:\s((?:``\w+``,?[\s\w]+)+``proofs/\w+\.v``)", text)
    ]
    assert len(named) == 7
    for sentence in named:
        (file,) = re.findall(r"proofs/(\w+)\.v", sentence)
        assert set(re.findall(r"``(\w+)``", sentence)) <= theorems[file], sentence
    page = (PROOFS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)\.v` \| (.*?) \|", page, re.M)
    assert sorted(file for file, _ in rows) == sorted(theorems)
    for file, contents in rows:
        assert {name for name in re.findall(r"`(\w+)`", contents) if "_" in name} <= theorems[file] | {"tile_to_shape"}
