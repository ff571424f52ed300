"""Emitted PTX gives the words of its derivation: run by a small interpreter, assembled where ptxas is."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from each import each
from emitted import CASES, by_python, derivations, expected, made, questions
from hypothesis import given

from descriptors import Derivation, derive
from descriptors.smem.emitters.emit import emit
from layoutalg import ComposedLayout, Layout, Swizzle


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


def by_ptx(d: Derivation, name: str = "operand") -> list[int]:
    text = emit(d, "ptx", name)
    names = re.findall(rf"%({name}_\w+)", next(line for line in text.splitlines() if line.startswith(".reg .b32")))
    words = []
    for address, coordinate in questions(d):
        machine = Machine(**dict(zip(names, (address, *coordinate), strict=True)))
        machine.run(text)
        words.append(machine.registers[f"%{name}_subtile"])
    return words


@each("name", CASES)
def test_ptx_gives_the_words_of_every_subtile(name: str) -> None:
    d = made(name)
    text = emit(d, "ptx", name)
    names = re.findall(rf"%{name}_(\w+)", next(line for line in text.splitlines() if line.startswith(".reg .b32")))
    words = []
    for address, coordinate in questions(d):
        values = dict(zip(names, (address, *coordinate), strict=True))
        machine = Machine(**{f"{name}_{key}": value for key, value in values.items()})
        machine.run(text)
        words.append(machine.registers[f"%{name}_subtile"])
    assert words == expected(d)


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
    ended = subprocess.run(
        ["ptxas", f"-arch={arch}", "-o", str(tmp_path / "all.cubin"), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_offset_that_is_a_power_of_two_needs_no_division_in_ptx() -> None:
    assert "div" not in (text := emit(made("kmajor"), "ptx"))
    assert "rem" not in text
    assert "rem.u32 digit, %operand_mn, 3" in (text := emit(made("thirds"), "ptx"))
    assert "div.u32 digit, %operand_mn, 3" in text


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
