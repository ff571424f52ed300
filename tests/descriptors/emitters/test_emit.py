"""Emitted code computes the words of its derivation: for every subtile, at several addresses, in every language.

CUDA C++ runs on the host (``g++``, which is told nothing of CUDA) and is compiled for the device where ``nvcc`` is
at hand; PTX is assembled where ``ptxas`` is, and run by a small interpreter; the CuTe DSL's twin runs in the CuTe DSL.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descriptors import ChoiceError, Derivation, DescriptorError, derive
from descriptors.emitters.emit import LANGUAGES, emit
from descriptors.oracle import available
from layoutalg import ComposedLayout, Layout, Swizzle, size

ALGEBRA: dict[str, Any] = {"legality": "off", "verify": False}
BF16: dict[str, Any] = {"dtype": "bf16", "mma": (64, 16), **ALGEBRA}

#: Advances of every kind: nested, with stages before and between, not powers of two, idle, far, one subtile.
CASES: dict[str, dict[str, Any]] = {
    "kmajor": {"tile": (128, 128), "major": "K", "swizzle": "128B", **BF16},
    "mnmajor": {"tile": (128, 128), "major": "MN", "swizzle": "64B", **BF16},
    "staged": {"tile": (128, 64, 4), "major": "K", "swizzle": "64B", "arch": "sm90", **BF16},
    "woven": {"tile": (192, 96, 3), "major": "K", "swizzle": "32B", "order": (0, 2, 1), **BF16},
    "backward": {"tile": (192, 192, 2), "major": "MN", "swizzle": "none", "order": (1, 2, 0), **BF16},
    "alone": {"tile": (64, 16), "major": "K", "swizzle": "none", **BF16},
    "bytes": {"tile": (256, 384), "major": "K", "swizzle": "128B", "dtype": "e4m3", "mma": (128, 32), **ALGEBRA},
    "nibbles": {"tile": (128, 512), "major": "K", "swizzle": "128B", "dtype": "e2m1", "mma": (128, 64), **ALGEBRA},
    "words": {"tile": (96, 64), "major": "MN", "swizzle": "128B_BASE32B", "dtype": "tf32", "mma": (32, 8), **ALGEBRA},
    "slice_": {
        "layout": ComposedLayout(Swizzle(3, 3, 3), 16 + 64 * 64, Layout((64, (16, 3)), (64, (1, 16)))),
        **BF16,
    },
    "stages2": {
        "layout": Layout(((8, 8), (16, 2), 2, 3), ((16, 128), (1, 1024), 6144, 2048)),
        **ALGEBRA,
        "dtype": "u8",
        "mma": (64, 32),
    },
    "across": {"tile": (128, 768), "major": "K", "swizzle": "128B", "dtype": "e2m1", "mma": (128, 96), **ALGEBRA},
    "ring": {
        "tile": (128, 1536, 2),
        "major": "K",
        "swizzle": "128B",
        "dtype": "e2m1",
        "mma": (64, 96),
        "order": (1, 0, 2),
        **ALGEBRA,
    },
    "thirds": {"layout": Layout(((8, 3, 5), (8, 2)), ((8, 128, 1024), (1, 64))), **BF16, "mma": (8, 16)},
}


def made(name: str) -> Derivation:
    return derive(**CASES[name])


def addresses(d: Derivation) -> list[int]:
    """Where a tile may lie: at the start, further on, and in another block of the cluster."""
    step = d.swizzle.alignment_bytes
    return [0, step, 7 * step, 0x1000000 + 3 * step]


def questions(d: Derivation) -> list[tuple[int, tuple[int, ...]]]:
    coordinates = list(product(*(range(size(mode)) for mode in d.advance)))
    return [(address, coordinate) for address in addresses(d) for coordinate in coordinates]


def expected(d: Derivation) -> list[int]:
    tables = {address: d.words(address & 0x3FFFF) for address in addresses(d)}
    words = []
    for address, coordinate in questions(d):
        word: Any = tables[address]
        for index in coordinate:
            word = word[index]
        words.append(word)
    return words


def run(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(text, space)  # noqa: S102 - code that runs is what is tested
    return space


def by_python(d: Derivation, name: str = "operand") -> list[int]:
    space = run(emit(d, "python", name))
    first, subtile = space[f"{name}_first"], space[f"{name}_subtile"]
    return [subtile(first(address), *coordinate) for address, coordinate in questions(d)]


@pytest.mark.parametrize("name", CASES)
def test_python_gives_the_words_of_every_subtile(name: str) -> None:
    d = made(name)
    assert by_python(d, name) == expected(d)


@st.composite
def derivations(draw: st.DrawFn) -> Derivation:
    major, swizzle = draw(st.sampled_from(["K", "MN"])), draw(st.sampled_from(["none", "32B", "64B", "128B"]))
    span = {"none": 8, "32B": 16, "64B": 32, "128B": 64}[swizzle]
    unit = (8, span) if major == "K" else (span, 8)
    counts = [draw(st.integers(1, 6)) for _ in range(2)]
    parts = [unit[i] * draw(st.sampled_from([n for n in (1, 2, 3, 4) if counts[i] % n == 0])) for i in (0, 1)]
    extents = [unit[i] * counts[i] for i in (0, 1)] + draw(st.lists(st.integers(1, 3), max_size=1))
    if major == "K":
        parts[1] = draw(st.sampled_from([n for n in (8, 16, 32, 64) if parts[1] % n == 0]))
    order = draw(st.permutations(range(len(extents))))
    given_: dict[str, Any] = {"tile": extents, "major": major, "swizzle": swizzle, "mma": parts, "order": tuple(order)}
    try:
        return derive(dtype="bf16", arch=draw(st.sampled_from(["sm90", "sm100"])), capacity=None, **given_, **ALGEBRA)
    except DescriptorError:
        return draw(st.nothing())


@given(derivations())
def test_python_gives_the_words_of_any_tile(d: Derivation) -> None:
    assert by_python(d) == expected(d)


def test_the_sum_never_leaves_its_field() -> None:
    space = run(emit(made("kmajor"), "python"))
    first = space["operand_first"](0x3FC00)  # the last kilobyte of the window
    moved = space["operand_subtile"](first, 1, 7)
    assert moved >> 14 == first >> 14
    assert moved & 0x3FFF == (0x3FC00 + 24672 & 0x3FFFF) >> 4


def test_python_refuses_what_no_tile_has() -> None:
    space = run(emit(made("kmajor"), "python"))
    with pytest.raises(ValueError, match="multiple of 1024"):
        space["operand_first"](1040)
    for coordinate in ((2, 0), (0, 8), (-1, 0)):
        with pytest.raises(IndexError):
            space["operand_subtile"](space["operand_first"](0), *coordinate)


def cuda_program(folder: Path) -> str:
    """All cases in one program that prints a word a line; half of them in one header, the others in one each."""
    parts, lines, together = [], [], list(CASES)[::2]
    headers = {name: emit(made(name), "cuda", name) for name in CASES if name not in together}
    headers["together"] = emit([made(name) for name in together], "cuda", together)
    for name, header in headers.items():
        (folder / f"{name}.h").write_text(header)
        parts += [f'#include "{name}.h"'] * 2
    for name in CASES:
        d = made(name)
        space = f"{name}_descriptor"
        for address, coordinate in questions(d):
            call = f"{space}::subtile({space}::first({address}u), {', '.join(f'{i}u' for i in coordinate)})"
            lines.append(f'  std::printf("%llx\\n", static_cast<unsigned long long>({call}));')
    return "\n".join([*parts, "#include <cstdio>", "int main() {", *lines, "}\n"])


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_cuda_gives_the_words_of_every_subtile(tmp_path: Path) -> None:
    source, program = tmp_path / "all.cpp", tmp_path / "all"
    source.write_text(cuda_program(tmp_path))
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(["g++", *flags, "-o", str(program), str(source)], check=True)
    printed = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split()
    assert [int(word, 16) for word in printed] == [word for name in CASES for word in expected(made(name))]


def header_program(folder: Path) -> str:
    """All cases in one header: each word by the function, and by the macro, in one program that prints both."""
    (folder / "all.h").write_text(emit([made(name) for name in CASES], "header", list(CASES)))
    lines = []
    for name in CASES:
        for address, coordinate in questions(made(name)):
            given, big = ", ".join(f"{i}u" for i in coordinate), name.upper()
            for call in (
                f"{name}_subtile({name}_first({address}u), {given})",
                f"{big}_SUBTILE_WORD({big}_FIRST_WORD({address}u), {given})",
            ):
                lines.append(f'  printf("%llx\\n", (unsigned long long)({call}));')
    return "\n".join(['#include "all.h"', '#include "all.h"', "#include <stdio.h>", "int main(void) {", *lines, "}\n"])


@pytest.mark.skipif(shutil.which("gcc") is None or shutil.which("g++") is None, reason="no gcc")
@pytest.mark.parametrize("standard", ["c99", "c11", "c++11", "c++17"])
def test_a_header_gives_the_words_of_every_subtile_in_every_language(standard: str, tmp_path: Path) -> None:
    source, program = tmp_path / ("all.cpp" if "+" in standard else "all.c"), tmp_path / "all"
    source.write_text(header_program(tmp_path))
    flags = [f"-std={standard}", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(["g++" if "+" in standard else "gcc", *flags, "-o", str(program), str(source)], check=True)
    printed = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout.split()
    assert [int(word, 16) for word in printed] == [
        word for name in CASES for word in expected(made(name)) for _ in "ab"
    ]


@pytest.mark.skipif(shutil.which("gcc") is None or shutil.which("g++") is None, reason="no gcc")
@pytest.mark.parametrize(("compiler", "name"), [("gcc", "a.c"), ("g++", "a.cpp")])
def test_a_header_with_another_word_does_not_compile(compiler: str, name: str, tmp_path: Path) -> None:
    right = emit(made("staged"), "header", "a")
    step = re.sub(r"(A_OFFSET_UNITS.*\(mn\) \* )(\d+)", lambda found: f"{found[1]}{int(found[2]) + 1}", right)
    word = re.sub(r"(A_WORD 0x)(\w{6})", lambda found: f"{found[1]}{int(found[2], 16) ^ 1:06x}", right)
    assert len({right, step, word}) == 3
    for text, status in ((right, 0), (step, 1), (word, 1)):
        (tmp_path / name).write_text(text.replace("#pragma once", ""))
        command = [compiler, "-fsyntax-only", str(tmp_path / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, "a_word_1_3_3" in done.stderr) == (status, bool(status)), done.stderr


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("language", ["cuda", "header"])
@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_cuda_compiles_for_the_device(arch: str, language: str, tmp_path: Path) -> None:
    parts, lines = [], []
    for name in CASES:
        d, space = made(name), f"{name}_descriptor::" if language == "cuda" else f"{name}_"
        (tmp_path / f"{name}.h").write_text(emit(d, language, name))
        parts.append(f'#include "{name}.h"')
        coordinate, last = ", ".join(["i", "j", "i + j", "j"][: len(tuple(d.advance))]), expected(d)[-1]
        lines.append(f"  *out++ = {space}subtile({space}first(address), {coordinate});")
        address, indices = questions(d)[-1]
        call = f"{space}subtile({space}first({address}u), {', '.join(map(str, indices))})"
        parts.append(f'static_assert({call} == {last:#x}ull, "{name}");\n')
    kernel = "__global__ void all(uint64_t* out, uint32_t address, uint32_t i, uint32_t j) {"
    source = tmp_path / "all.cu"
    source.write_text("\n".join([*parts, kernel, *lines, "}\n"]))
    command = ["nvcc", "-c", f"-arch={arch}", "-Werror", "all-warnings", "-o", str(tmp_path / "all.o"), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


class Machine:
    """A thread that knows the few PTX instructions that are emitted."""

    def __init__(self, **registers: int) -> None:
        self.registers = {f"%{name}": value for name, value in registers.items()}

    def value(self, operand: str) -> int:
        return self.registers[operand] if operand in self.registers else int(operand, 0)

    def step(self, opcode: str, target: str, *operands: str) -> None:
        a, *rest = map(self.value, operands)
        bits = 64 if "64" in opcode.split(".")[1] else 32
        match opcode.split(".")[0], *rest:
            case ("mov" | "cvt",):
                result = a
            case "and", b:
                result = a & b
            case "or", b:
                result = a | b
            case "add", b:
                result = a + b
            case "shr", b:
                result = a >> b
            case "div", b:
                result = a // b
            case "rem", b:
                result = a % b
            case "mul", b:
                result = a * b
            case "mad", b, c:
                result = a * b + c
            case "bfi", b, position, length:
                mask = ((1 << length) - 1) << position
                result = b & ~mask | a << position & mask
            case unknown:
                raise AssertionError(f"no such instruction: {unknown}")
        self.registers[target] = result % (1 << (64 if opcode == "mul.lo.u64" else bits))

    def run(self, text: str) -> None:
        for line in text.splitlines():
            code = line.partition("//")[0].strip()
            if code and code not in "{}" and not code.startswith(".reg"):
                opcode, _, operands = code.removesuffix(";").partition(" ")
                self.step(opcode, *(operand.strip() for operand in operands.split(",")))


@pytest.mark.parametrize("name", CASES)
def test_ptx_gives_the_words_of_every_subtile(name: str) -> None:
    d = made(name)
    text = emit(d, "ptx", name)
    names = re.findall(rf"%{name}_(\w+)", next(line for line in text.splitlines() if line.startswith(".reg .b32")))
    found = []
    for address, coordinate in questions(d):
        values = dict(zip(names, (address, *coordinate), strict=True))
        machine = Machine(**{f"{name}_{key}": value for key, value in values.items()})
        machine.run(text)
        found.append(machine.registers[f"%{name}_subtile"])
    assert found == expected(d)


@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas")
@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_ptx_is_assembled(arch: str, tmp_path: Path) -> None:
    body = []
    for i, name in enumerate(CASES):
        d = made(name)
        text = emit(d, "ptx", name)
        declared, _, rest = text.partition("\n\n// Descriptor of the first")
        loads = [f"ld.param.u32 {register}, [address];" for register in re.findall(rf"%{name}_address\b", declared)]
        loads += [f"mov.u32 %{name}_{one}, %tid.x;" for one in re.findall(rf"%{name}_(mn|k|stage\d?)\b", declared)]
        body += [
            declared,
            *loads,
            "// Descriptor of the first" + rest,
            f"st.global.u64 [%out+{8 * i}], %{name}_subtile;",
        ]
    head = f".version 8.7\n.target {arch}\n.address_size 64\n"
    head += ".visible .entry all(.param .u64 out, .param .u32 address) {\n"
    source = tmp_path / "all.ptx"
    source.write_text(head + "\n".join([".reg .b64 %out;", "ld.param.u64 %out, [out];", *body, "ret;", "}\n"]))
    done = subprocess.run(
        ["ptxas", f"-arch={arch}", "-o", str(tmp_path / "all.cubin"), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not available(), reason="the CuTe DSL is not installed")
def test_the_cute_dsl_gives_the_words_of_every_subtile() -> None:
    from descriptors.oracle.emitted import Run, run_emitted

    derived = {name: made(name) for name in CASES}
    runs = [Run(emit(d, "cutedsl", name), name, tuple(questions(d)), d.arch) for name, d in derived.items()]
    for d, answer in zip(derived.values(), run_emitted(runs), strict=True):
        assert (answer.status, answer.text) == ("ok", "")
        assert list(answer.dynamic) == list(answer.static) == expected(d)


def test_the_words_of_the_host_and_of_the_kernel_keep_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    from descriptors.oracle import emitted
    from layoutalg.oracle.service import Reply

    def asked(answerer: str, questions: list[Any], **options: Any) -> list[Reply]:
        assert (answerer, len(questions)) == ("descriptors.oracle.dsl.emitted", 2)
        return [Reply("ok", {"dynamic": ["0x10", "0x11"], "static": ["0x20"]}), Reply("rejected", "no such field")]

    monkeypatch.setattr(emitted, "ask", asked)
    runs = [emitted.Run("text", "a", ((0, (0,)),))] * 2
    answers = [emitted.RunAnswer("ok", (16, 17), (32,)), emitted.RunAnswer("rejected", text="no such field")]
    assert emitted.run_emitted(runs) == answers


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CASES)
def test_the_text_names_its_derivation(name: str, language: str) -> None:
    d = made(name)
    text = emit(d, language, name)
    mark = "//" if language in ("cuda", "header", "ptx") else "#"
    comment = " ".join(line for line in text.splitlines() if line.startswith(mark))
    facts = [d.arch, d.element.name, f"{d.major}-major", f"swizzle {d.swizzle}", str(d.smem_tile), str(d.advance)]
    facts += [f"({','.join(map(str, extents))})" for extents in (d.mma, d.tile, d.order) if extents]
    facts += [f"{d.descriptor.stride_byte_offset} bytes", f"{d.swizzle.alignment_bytes} bytes"]
    assert not [fact for fact in facts if fact not in comment]
    assert f"{d.descriptor.at(0).encode():#018x}" in text
    assert text.isascii()
    assert text.endswith("\n")
    assert not [line for line in text.splitlines() if line != line.rstrip()]


def test_an_offset_that_is_a_power_of_two_needs_no_division_in_ptx() -> None:
    assert "div" not in (text := emit(made("kmajor"), "ptx"))
    assert "rem" not in text
    assert "rem.u32 digit, %operand_mn, 3" in (text := emit(made("thirds"), "ptx"))
    assert "div.u32 digit, %operand_mn, 3" in text


@pytest.mark.parametrize("language", ["c", "", None, "CUDA C++"])
def test_an_unknown_language_is_refused(language: Any) -> None:
    with pytest.raises(
        ChoiceError, match=r"emit: language (must be|is missing:) one of cuda, header, ptx, cutedsl, python"
    ):
        emit(made("kmajor"), language)


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "a;b", "ä", "a\n", None, "a" * 65])
def test_a_name_that_is_no_identifier_is_refused(name: Any) -> None:
    with pytest.raises(DescriptorError, match="emit: name must be an identifier"):
        emit(made("kmajor"), "python", name)


def by_ptx(d: Derivation, name: str = "operand") -> list[int]:
    text = emit(d, "ptx", name)
    names = re.findall(rf"%({name}_\w+)", next(line for line in text.splitlines() if line.startswith(".reg .b32")))
    found = []
    for address, coordinate in questions(d):
        machine = Machine(**dict(zip(names, (address, *coordinate), strict=True)))
        machine.run(text)
        found.append(machine.registers[f"%{name}_subtile"])
    return found


@given(derivations())
def test_ptx_gives_the_words_of_any_tile(d: Derivation) -> None:
    assert by_ptx(d) == expected(d)


#: Three digits along one coordinate, whose extents are powers of two and not: a divisor and a modulus in one term.
DIGITS = {
    "powers": Layout(((8, 8), (64, 2, 2)), ((64, 512), (1, 8192, 4096))),
    "thirds": Layout(((8, 8), (64, 3, 2)), ((64, 512), (1, 8192, 4096))),
    "both": Layout(((8, 8), (64, 2, 3, 2)), ((64, 512), (1, 8192, 4096, 32768))),
    "rows": Layout(((8, 8, 2, 3, 2), 64), ((64, 512, 16384, 4096, 8192), 1)),
}


@pytest.mark.parametrize("name", DIGITS)
def test_three_digits_along_one_coordinate_are_taken_apart(name: str) -> None:
    layout = ComposedLayout(Swizzle(3, 3, 3), 0, DIGITS[name])
    d = derive(layout=layout, dtype="bf16", mma=(64, 16), legality="off", verify=False)
    assert max(len(text.split(" % ")) for text in emit(d, "python").splitlines()) > 1
    assert by_ptx(d) == by_python(d) == expected(d)


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
def test_a_misplaced_tile_does_not_compile(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text(emit(made("kmajor"), "cuda", "a"))
    source, command = tmp_path / "a.cpp", ["g++", "-std=c++17", "-fsyntax-only", str(tmp_path / "a.cpp")]
    for address, status in ((0x2000, 0), (0x2010, 1)):
        word = made("kmajor").words(0x2000)[0][0]
        source.write_text(f'#include "a.h"\nstatic_assert(a_descriptor::first_at<{address}u>() == {word:#x}ull, "");\n')
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == status
        assert ("must start at a multiple of kAlignmentBytes" in done.stderr) is bool(status)


def test_names_that_differ_in_case_share_no_identifier() -> None:
    """The second operand does not change the first, neither in one text nor in two that are put together."""
    first, second = made("kmajor"), made("mnmajor")
    apart = emit(first, "python", "a") + emit(second, "python", "A")
    for text in (apart, emit([first, second], "python", ["a", "A"])):
        space = run(text)
        for name, d in (("a", first), ("A", second)):
            assert [space[f"{name}_subtile"](space[f"{name}_first"](at), *to) for at, to in questions(d)] == expected(d)
    assert emit([first, second], "cutedsl", ["a", "A"]).count("A_WORD = ") == 1


def test_several_operands_have_a_name_each() -> None:
    d = made("kmajor")
    assert emit([d], "cuda", "a") == emit(d, "cuda", "a")
    assert emit([d, d], "cuda", ["a", "b"]).count("#pragma once") == 1
    for derivations, names in (
        ([d, d], "a"),
        ([d, d], ["a"]),
        ([d, d], ["a", "a"]),
        ([d, d], [["a"], "b"]),
        (d, ["a"]),
    ):
        with pytest.raises(DescriptorError, match=r"^emit: .*name"):
            emit(derivations, "cuda", names)  # type: ignore[arg-type]
    for garbage in ([], 7, None, [7], "d"):
        with pytest.raises(DescriptorError, match=r"^emit: the operand must be a derivation or several, found"):
            emit(garbage, "cuda", "a")  # type: ignore[arg-type]
