"""The header of the derivation against the engine, by a compiler, refusals too; and against NVIDIA's words."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from traceback import walk_tb
from typing import Any, NamedTuple

import pytest
from places import ROOT, VECTORS
from strict import kinds, tiles

from descriptors import DescriptorError, NotCanonicalError, derive
from descriptors.errors import ChoiceError, FieldError
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.emitters.emit import constexpr_header
from descriptors.smem.instructions.rules import rows_of
from descriptors.smem.operands.operand import ELEMENT_TYPES, LATER_TYPES, Major, SwizzleMode
from layoutalg.frozen import replace

COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
STRICT = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]

pytestmark = pytest.mark.skipif(not COMPILERS, reason="no compiler of C++")

# The names of the header, in its order.
ARCHS = ("sm90", "sm100", "sm103", "sm107", "sm110")
TYPES = (*ELEMENT_TYPES, *LATER_TYPES)
KINDS = (None, "f16", "tf32", "f8", "i8", "f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4", "ti16")
MATRICES = (None, "A", "B")
ORDERS = (None, (0, 1, 2), (1, 0, 2))
ATOMS = (None, "MN_SW128_32B_4ROWS")
ERRORS = """none extent capacity atom type major swizzle cta_group instruction whole_atoms whole_operands inside_atom
whole_16_bytes canonical crosses_atoms field""".split()
#: What the engine says of each refusal.
SAYS = {
    "extent": ("the minimum is 1",),
    "capacity": ("bytes of shared memory",),
    "atom": ("has no K-major atom", "is not an atom of", "has no K-major form"),
    "type": ("no kind of MMA instruction", "legality: dtype is", "kind of"),
    "major": ("legality: major is",),
    "swizzle": ("legality: swizzle is",),
    "cta_group": ("cta_group is",),
    "instruction": ("instruction reads a ", "has no instruction with K 96"),
    "crosses_atoms": ("cross from one swizzle atom to the next",),
    "whole_atoms": ("of an atom in",),
    "whole_operands": ("not a multiple of the instruction's",),
    "inside_atom": ("are not all the same part of the tile",),
    "whole_16_bytes": ("elements (16 bytes);",),
}
MASK = (1 << 64) - 1


class Case(NamedTuple):
    """Arguments of both; tile and mma in elements."""

    arch: str
    dtype: str
    major: str
    swizzle: str
    tile: tuple[int, int, int]
    mma: tuple[int, int]
    order: tuple[int, int, int] | None = None
    operand: str | None = None
    kind: str | None = None
    cta_group: int | None = None
    sparse: bool = False
    legality: str = "strict"
    atom: str | None = None
    capacity: int = 232448
    base: int = 0

    def numbers(self) -> list[int]:
        """As the program reads them."""
        majors, modes = [str(one) for one in Major], [str(one) for one in SwizzleMode]
        names = ((ARCHS, self.arch), (TYPES, self.dtype), (majors, self.major), (modes, self.swizzle))
        options = ((ORDERS, self.order), (MATRICES, self.operand), (KINDS, self.kind))
        first = [table.index(value) for table, value in names]  # type: ignore[arg-type]
        more = [table.index(value) for table, value in options]  # type: ignore[arg-type]
        flags = [self.cta_group or 0, self.sparse, self.legality == "off", ATOMS.index(self.atom)]
        return [*first, *self.tile, *self.mma, *more, *map(int, flags), self.capacity, self.base]

    def cpp(self) -> str:
        """The call, written out."""
        swizzle = {"none": "none", "128B_BASE32B": "B128_base32B"}.get(self.swizzle, f"B{self.swizzle[:-1]}")
        names = f"Arch::{self.arch}, Type::{self.dtype}, Major::{self.major}, Swizzle::{swizzle}"
        extents = f"Tile{{{', '.join(map(str, self.tile))}}}, Mma{{{', '.join(map(str, self.mma))}}}"
        return f"derive({names}, {extents}, options({', '.join(map(str, self.numbers()[9:17]))}))"


def reason(error: DescriptorError) -> str:
    """What the engine refuses, by the names of the header."""
    if isinstance(error, NotCanonicalError):
        return "canonical"
    if isinstance(error, FieldError) or (isinstance(error, ChoiceError) and "descriptor: swizzle" in str(error)):
        return "field"
    if "atom: a " in str(error):
        return "atom"
    # A tile is checked for whole atoms before it is checked for whole operands, and the sentence may be the same.
    modules = {frame.f_globals["__name__"] for frame, _ in walk_tb(error.__traceback__)}
    if "not a multiple of the instruction's" in str(error) and "descriptors.smem.operands.atoms" in modules:
        return "whole_atoms"
    return next((name for name, words in SAYS.items() if any(one in str(error) for one in words)), str(error))


def mixed(words: Iterable[int]) -> int:
    """All words in one number, which depends on their order."""
    number = 14695981039346656037
    for word in words:
        number = (number ^ word) * 1099511628211 & MASK
    return number


def leaves(grid: Any) -> Iterator[int]:
    if isinstance(grid, int):
        yield grid
    else:
        for one in grid:
            yield from leaves(one)


def engine(case: Case) -> list[int | str]:
    """The error; the word without the address, LBO, SBO, alignment, transpose bit, number and mix of all words."""
    arguments = case._asdict()
    base = arguments.pop("base")
    try:
        d = derive(**arguments, verify=False)
    except DescriptorError as error:
        # In the header, sm100 stands for its generation, of which sm103 and sm107 have K = 96.
        if case.arch == "sm100" and "has no instruction with K 96" in str(error):
            return engine(case._replace(arch="sm103"))
        name = reason(error)
        assert name in ERRORS, (case, name)
        return [ERRORS.index(name)]
    return [0, *answer(d, base)]


def answer(d: Derivation, base: int) -> list[int | str]:
    first = d.descriptor
    lbo = 0 if d.crossing is not None else first.leading_byte_offset
    try:
        # The header knows no shared memory that a tile must end in.
        words = [word for row in replace(d, capacity=None).words(base) for word in leaves(row)]
    except DescriptorError:  # an address that is not aligned, or too far for the start of an operand
        words = []
    return [
        f"{first.encode():x}", lbo, first.stride_byte_offset, d.swizzle.alignment_bytes, int(d.transposed),
        len(words), f"{mixed(words):x}",
    ]  # fmt: skip


def test_the_tables_of_the_header_are_those_of_the_package() -> None:
    """The rows of shapes, codes and widths are written by a script, so that a new chip changes one table."""
    command = [sys.executable, str(ROOT / "scripts" / "make_header.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


HEAD = """\
#include "descriptor.hpp"

using namespace layoutalg;

constexpr Options options(int order, int operand, int kind, uint32_t ctas, int sparse, int any, int atom,
                          uint32_t capacity) {
  return {static_cast<Order>(order), static_cast<Operand>(operand), static_cast<Kind>(kind), ctas,
          sparse != 0, any != 0, static_cast<Atom>(atom), capacity};
}
"""

PROGRAM = """\
#include <iostream>
#include <sstream>
#include <string>

int main() {
  unsigned long compared = 0, different = 0;
  int a, t, m, s, order, operand, kind, sparse, any, atom, error;
  uint32_t ctas, capacity, lbo, sbo, alignment, transposed;
  uint64_t base, word, many, mix;
  Tile tile{1, 1};
  Mma mma{1, 1};
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    in >> a >> t >> m >> s >> tile.mn >> tile.k >> tile.stages >> mma.mn >> mma.k >> order >> operand >> kind >> ctas;
    in >> sparse >> any >> atom >> capacity >> base >> error;
    const Derivation d = derive(static_cast<Arch>(a), static_cast<Type>(t), static_cast<Major>(m),
                                static_cast<Swizzle>(s), tile, mma,
                                options(order, operand, kind, ctas, sparse, any, atom, capacity));
    bool same = static_cast<int>(d.error) == error;
    if (error != 0) same = same && d.word == no_word && d.at(base) == no_word;
    if (error == 0) {
      in >> std::hex >> word >> std::dec >> lbo >> sbo >> alignment >> transposed >> many >> std::hex >> mix;
      uint64_t number = 14695981039346656037ull, operands = 0;
      bool refused = false;
      for (uint32_t i = 0; i < d.mn_blocks; ++i)
        for (uint32_t k = 0; k < d.k_blocks; ++k)
          for (uint32_t stage = 0; stage < d.stages; ++stage, ++operands) {
            const uint64_t one = d.at(base, i, k, stage);
            refused = refused || one == no_word;
            same = same && (one == no_word || one == d.at(base) + d.advance(i, k, stage));
            number = (number ^ one) * 1099511628211ull;
          }
      same = same && d.word == word && d.lbo == lbo && d.sbo == sbo && d.alignment == alignment;
      same = same && d.transposed == (transposed != 0) && d.at(0) == word;
      same = same && (many == 0 ? refused : operands == many && number == mix);
      same = same && d.at(base, d.mn_blocks) == no_word && d.at(base, 0, d.k_blocks) == no_word;
    }
    ++compared;
    same = same && in;
    if (!same && ++different < 20)
      std::cout << line << ": " << static_cast<int>(d.error) << std::hex << ' ' << d.word << std::dec << '\\n';
  }
  std::cout << compared << " compared, " << different << " different\\n";
  return different != 0;
}
"""


def compiled(text: str, folder: Path, compiler: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """A program after the head of all, compiled with every warning an error."""
    (folder / "descriptor.hpp").write_text(constexpr_header())
    (folder / "program.cpp").write_text(HEAD + text)
    command = [compiler, *STRICT, *flags, "program.cpp"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def compared(cases: Iterable[Case], folder: Path, compiler: str) -> Counter[str]:
    """The program built and run on all cases; the errors of the engine, counted."""
    done = compiled(PROGRAM, folder, compiler, "-O1", "-o", "compare")
    assert done.returncode == 0, done.stderr
    counts: Counter[str] = Counter()
    with (folder / "cases").open("w") as file:
        for case in cases:
            said = engine(case)
            counts[ERRORS[int(said[0])]] += 1
            print(*case.numbers(), *said, file=file)
    with (folder / "cases").open() as file:
        done = subprocess.run(["./compare"], stdin=file, capture_output=True, text=True, check=False, cwd=folder)
    assert done.stdout.splitlines()[-1:] == [f"{counts.total()} compared, 0 different"], done.stdout
    return counts


def bits_of(dtype: str) -> int:
    return {**ELEMENT_TYPES, **LATER_TYPES}[dtype].storage_bits


def kinds_with_majors() -> Iterator[Case]:
    """Every architecture, type, kind, major and swizzle, with an operand that most instructions read."""
    names = ([str(one) for one in Major], [str(one) for one in SwizzleMode])
    for arch, dtype, kind, major, swizzle in product(ARCHS, TYPES, KINDS, *names):
        k = 256 // bits_of(dtype)
        yield Case(arch, dtype, major, swizzle, (128, 8 * k, 1), (64 if arch == "sm90" else 128, k), kind=kind)


def shapes() -> Iterator[Case]:
    """Every kind of every architecture, what its instructions read, and what they do not."""
    for arch in ARCHS:
        for row in (row for row in rows_of("KINDS", arch) if row.kind != "b1"):
            dtype = row.dtypes[0]
            extents = product(range(8, 273, 8), (256, 384, 512, 1024), MATRICES, (None, 1, 2), (False, True))
            for mn, bits, operand, ctas, sparse in extents:
                k = bits // bits_of(dtype)
                swizzle = "none" if bits == 384 else "64B"
                yield Case(
                    arch, dtype, "K", swizzle, (mn, 2 * k, 1), (mn, k), None, operand, row.kind, ctas, sparse
                )  # fmt: skip


def strict_lattice() -> Iterator[Case]:
    """Every operand that an instruction reads, every tile of it to 256 x 256 and 2 stages, both orders."""
    for one in kinds():
        for tile, order in product(tiles(one, stages=2), ORDERS[1:]):
            yield Case(
                one.arch, one.dtype, str(one.major), str(one.swizzle), tile, one.mma, order, one.operand,
                base=1024 * (tile[0] % 5),
            )  # fmt: skip


def drawn(number: int, seed: int = 20261123) -> Iterator[Case]:
    """Tiles of every type, major and swizzle, whole and not, at all kinds of addresses."""
    chooser = random.Random(seed)
    pick = chooser.choice
    for _ in range(number):
        arch, dtype, major, off = pick(ARCHS), pick(TYPES), pick(("K", "MN")), chooser.random() < 0.6
        unit = 128 // bits_of(dtype)
        mma = (pick((8, 16, 24, 32, 64, 64, 128)), pick((2, 2, 2, 3, 4)) * unit)
        if off and chooser.random() < 0.5:
            mma = (pick((4, 8, 12, 16, 24, 40, 64, 96)), pick((1, 2, 3, 4, 6, 8, 12)) * pick((unit, unit, unit // 2)))
        tile = (mma[0] * pick((1, 2, 2, 3, 4)), mma[1] * pick((1, 2, 3, 4, 4, 8, 16)), pick((1, 1, 1, 2, 3)))
        if chooser.random() < 0.1:
            tile = (tile[0] + pick((0, 8)), tile[1] + pick((0, unit, 8)), pick((1, 40)))
        swizzle = pick([str(one) for one in SwizzleMode])
        atom = ATOMS[1] if chooser.random() < (0.5 if (major, swizzle) == ("MN", "128B_BASE32B") else 0.02) else None
        yield Case(
            arch, dtype, major, swizzle, tile, mma, pick(ORDERS),
            pick(MATRICES), pick((None, None, pick(KINDS))), pick((None, None, 1, 2)), pick((False, False, True)),
            "off" if off else "strict", atom, pick((232448, 232448, 232448, 1 << 18, 1 << 16)),
            pick((0, 1024, 128 * chooser.randrange(2048), 16 * chooser.randrange(1 << 14), chooser.randrange(1 << 18))),
        )  # fmt: skip


#: Where one step more is one too many.
EDGES = [
    Case("sm100", "bf16", "K", "none", (8, 32, 1), (8, 16), base=(1 << 18) - 256),
    Case("sm107", "bf16", "K", "none", (8, 32, 1), (8, 16), base=(1 << 19) - 256),
    Case("sm107", "bf16", "K", "none", (16, 1 << 14, 1), (16, 16), (1, 0, 2), capacity=1 << 19),
    Case("sm107", "bf16", "K", "none", (16, 1 << 13, 2), (16, 16), (1, 0, 2), capacity=1 << 19),
    Case("sm103", "e2m1", "K", "128B", (128, 768, 1), (128, 96), cta_group=2, base=128),
    Case("sm103", "e2m1", "K", "128B", (128, 768, 1), (128, 96), cta_group=2, base=3072),
    Case("sm90", "s8", "K", "32B", (24, 32, 1), (24, 32), operand="B"),
    Case("sm90", "bf16", "K", "32B", (1 << 31, 1 << 31, 1 << 31), (64, 16)),
    Case("sm90", "bf16", "K", "32B", (64, 16, 0), (64, 16)),
]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_part_of_every_lattice_is_as_the_engine_has_it(compiler: str, tmp_path: Path) -> None:
    every_type = [one for i, one in enumerate(kinds_with_majors()) if i % 3 == 0]
    every_shape = [one for i, one in enumerate(shapes()) if i % 19 == 0]
    counts = compared([*EDGES, *every_type, *every_shape, *drawn(6000)], tmp_path, compiler)
    assert counts["none"] > 1000 and set(counts) == set(ERRORS), counts


@pytest.mark.exhaustive
@pytest.mark.parametrize(("every", "fewest"), [(kinds_with_majors, 500), (shapes, 1000), (strict_lattice, 1000)])
def test_the_whole_lattice_is_as_the_engine_has_it(every: Any, fewest: int, tmp_path: Path) -> None:
    assert compared(every(), tmp_path, COMPILERS[0])["none"] > fewest


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_compiler_derives_words_and_refusals(compiler: str, tmp_path: Path) -> None:
    lines = list[str]()
    for case in [*EDGES, *drawn(300, seed=7)]:
        error, *rest = engine(case)
        word = f"0x{rest[0]}" if rest else "no_word"
        lines.append(f'static_assert({case.cpp()}.error == Error::{ERRORS[int(error)]}, "");')
        lines.append(f'static_assert({case.cpp()}.word == {word}, "");')
    done = compiled("\n".join(lines), tmp_path, compiler, "-fsyntax-only")
    assert done.returncode == 0, done.stderr[:4000]
    wrong = lines[-1].replace("0x", "1 + 0x").replace("== no_word", "!= no_word")
    assert "static assertion failed" in compiled(wrong, tmp_path, compiler, "-fsyntax-only").stderr


def words_of_nvidia() -> Iterator[tuple[Case, tuple[int, int], int]]:
    """Operands of a tile whose words NVIDIA's compiler made, with no part of ours: which one, and its word."""
    for row in json.loads((VECTORS / "rubin_words.json").read_text(encoding="utf-8"))["shared_memory"]:
        for arch in ("sm100", "sm107"):
            if "next_start" not in row and str(row.get(arch, "")).startswith("0x"):
                swizzle = row["swizzle"].replace("base", "BASE")
                yield Case(
                    arch, row["dtype"], row["major"], swizzle, (*row["tile"], 1), tuple(row["mma"]),
                    (*row["order"], 2), legality="off", capacity=1 << 19, base=row["start"],
                ), tuple(row["subtile"]), int(row[arch], 16)  # fmt: skip
    for row in json.loads((VECTORS / "k96.json").read_text(encoding="utf-8"))["tiles"]:
        for k, word in enumerate(row["words"]):
            yield Case(
                "sm103", "e2m1", "K", "128B", (*row["tile"], 1), tuple(row["mma"]), (*row["order"], 2), legality="off"
            ), (0, k), int(word, 16)  # fmt: skip


def has_word(case: Case, subtile: tuple[int, int]) -> bool:
    """Whether the engine has a word: the address may not be aligned, or the operand leave a row of 32 bytes."""
    arguments = case._asdict()
    base = arguments.pop("base")
    try:
        replace(derive(**arguments, verify=False), capacity=None).word(*subtile, base=base)
    except DescriptorError:
        return False
    return True


def test_the_words_are_those_of_nvidias_compiler(tmp_path: Path) -> None:
    rows = list(words_of_nvidia())
    some = [(case, at, f"{word:#x}" if has_word(case, at) else "no_word") for case, at, word in rows]
    # Of sm100 that compiler drops a bit where a tile is larger than what a start address can name.
    some = [row for row in some if row[0].arch != "sm100" or math.prod(row[0].tile) * bits_of(row[0].dtype) <= 1 << 21]
    assert len(some) > 570 and sum(word != "no_word" for _, _, word in some) > 500
    lines = [f'static_assert({case.cpp()}.at({case.base}, {mn}, {k}) == {word}, "");' for case, (mn, k), word in some]
    done = compiled("\n".join(lines), tmp_path, COMPILERS[0], "-fsyntax-only")
    assert done.returncode == 0, done.stderr[:4000]


def test_the_cookbooks_program_compiles_and_the_headers_own_example(tmp_path: Path) -> None:
    (tmp_path / "layoutalg").mkdir()
    (tmp_path / "layoutalg" / "descriptor.hpp").write_text(constexpr_header())
    blocks = re.findall(r"```cpp\n(.*?)```", (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (one for one in blocks if "descriptor.hpp" in one)
    head = [line.removeprefix("//   ") for line in constexpr_header().splitlines() if line.startswith("//   ")]
    body = "\n".join(line for line in head[1:] if line.startswith("uint64_t"))
    call = f"uint64_t f(uint64_t address_of_tile, uint32_t m_block, uint32_t k_block, uint32_t stage) {{\n{body}\n"
    example = "\n".join([*(line for line in head if not line.startswith("uint64_t")), call, "return word + next; }"])
    for number, text in enumerate((block, example)):
        (tmp_path / f"{number}.cpp").write_text(text + "\n")
        command = [COMPILERS[0], *STRICT, "-I.", "-fsyntax-only", f"{number}.cpp"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stderr


KERNEL = """
__global__ void words(uint64_t* out, uint32_t address) {
  constexpr Derivation a = derive(Arch::sm90, Type::bf16, Major::K, Swizzle::B128, Tile{128, 64, 4}, Mma{64, 16});
  static_assert(a.error == Error::none, "");
  out[0] = a.word;
  out[1] = a.at(address, 0, 1, 3);
  out[2] = a.at(address) + a.advance(1, threadIdx.x, 0);
}
"""


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
def test_device_code_has_the_word_as_a_constant(tmp_path: Path) -> None:
    (tmp_path / "descriptor.hpp").write_text(constexpr_header())
    (tmp_path / "kernel.cu").write_text(HEAD + KERNEL)
    command = ["nvcc", "-std=c++17", "-ptx", "-arch=sm_90a", "-Werror", "all-warnings", "kernel.cu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "kernel.ptx").read_text()
    assert str(0x4000004000010000) in text and "rem." not in text and "div." not in text
