"""Cases of the conformance suite asked of CuTe C++: static layouts, compiled by the host's compiler, printed and read.

Many cases stand in one source, a line each; those that the compiler refuses are told by its messages, left out, and the
rest is compiled again until all of it is taken. Headers are CUTLASS's own, such as those of the package
``nvidia-cutlass``; nothing of them is kept.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from cases import decode

from layoutalg import ComposedLayout, Layout, ScaledBasis, Swizzle

#: What is printed is the notation of this package, so that one reader reads all answers.
_PRELUDE = """\
#include <cstdio>
#include <cute/tensor.hpp>
using namespace cute;
template <class T> void show(T const& x);
template <class T> void leaf(T const& x) { printf("%lld", (long long)x); }
template <int B, int M, int S> void leaf(Swizzle<B, M, S> const&) { printf("S<%d,%d,%d>", B, M, S); }
template <class T, int... Ns> void leaf(ScaledBasis<T, Ns...> const& e) {
  constexpr int path[] = {Ns..., 0};
  show(e.value());
  for (int i = sizeof...(Ns); i-- > 0;) printf("@%d", path[i]);
}
template <class S, class D> void leaf(Layout<S, D> const& l) { show(l.shape()); printf(":"); show(l.stride()); }
template <class A, class O, class B> void leaf(ComposedLayout<A, O, B> const& l) {
  show(l.layout_a()); printf(" o "); show(l.offset()); printf(" o "); show(l.layout_b());
}
template <class T> void show(T const& x) {
  if constexpr (is_tuple<T>::value && !is_layout<T>::value) {
    printf("(");
    for_each(make_seq<tuple_size<T>::value>{}, [&](auto i) { if (i) printf(","); show(get<i>(x)); });
    printf(")");
  } else if constexpr (is_underscore<T>::value) { printf("_"); }
  else { leaf(x); }
}
template <class L> auto numbers(L const& l) { return make_tensor(make_inttuple_iter(Int<0>{}), l); }
template <class T> void apart(T const& t) { show(t.layout()); printf(" + "); show(*t.data()); }
template <class T> void pair(T const& t) { show(get<0>(t)); printf(" + "); show(get<1>(t)); }
"""

#: Operations whose C++ form is their own name before their operands.
_SAME = """
    size cosize coalesce filter filter_zeros flatten append prepend make_ordered_layout make_layout_like composition
    complement right_inverse left_inverse nullspace max_common_layout max_common_vector logical_divide zipped_divide
    tiled_divide flat_divide logical_product zipped_product tiled_product flat_product blocked_product raked_product
    tile_to_shape idx2crd
""".split()


def _value(value: Any) -> str:
    """An operand in C++, all of its numbers static."""
    if value is None:
        return "_"
    if isinstance(value, ScaledBasis):
        path = "".join(f", {one}" for one in value.mode)
        return f"ScaledBasis<Int<{value.value}>{path}>{{}}"
    if isinstance(value, Swizzle):
        return f"Swizzle<{value.bits}, {value.base}, {value.shift}>{{}}"
    if isinstance(value, Layout):
        return f"make_layout({_value(value.shape)}, {_value(value.stride)})"
    if isinstance(value, ComposedLayout):
        return f"make_composed_layout({_value(value.outer)}, {_value(value.offset)}, {_value(value.inner)})"
    if isinstance(value, tuple):
        return f"make_tuple({', '.join(map(_value, value))})"
    return f"Int<{value}>{{}}"


def statement(operation: str, operands: list[Any]) -> str:
    """A case as a statement of C++ that prints its answer."""
    values = [decode(one) for one in operands]
    texts = [_value(one) for one in values]
    if operation in _SAME:
        return f"show({operation}({', '.join(texts)}));"
    match operation:
        case "call":
            return f"show({texts[0]}({texts[1]}));"
        case "crd2idx":
            return f"show({texts[1]}({texts[0]}));"
        case "group_modes":
            return f"show(group<{values[1]}, {values[2]}>({texts[0]}));"
        case "select":
            return f"show(select<{', '.join(map(str, values[1]))}>({texts[0]}));"
        case "upcast" | "downcast":
            return f"show({operation}<{values[1]}>({texts[0]}));"
        case "recast_layout":
            new, old = (f"uint{bits}_t" if bits != 128 else "uint128_t" for bits in values[:2])
            return f"show(recast_layout<cute::{old}, cute::{new}>({texts[2]}));"
        case "slice_and_offset":
            return f"pair(slice_and_offset({texts[0]}, {texts[1]}));"
        case "dice":
            return f"show(dice({texts[1]}, {texts[0]}));"
        case "local_tile" | "local_partition":
            return f"apart({operation}(numbers({texts[0]}), {texts[1]}, {texts[2]}));"
    raise NotImplementedError(operation)


def version(include: Path) -> str:
    """The version of the headers, and the compiler that reads them."""
    text = (include / "cutlass" / "version.h").read_text()
    headers = ".".join(re.findall(r"#define CUTLASS_(?:MAJOR|MINOR|PATCH) (\d+)", text))
    compiler = subprocess.run(["g++", "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()
    return f"CuTe C++ of CUTLASS {headers}, static layouts, g++ {compiler}"


def headers() -> list[Path]:
    """The folders of headers on this machine, CUTLASS's and CUDA's; none where anything is missing."""
    package = importlib.util.find_spec("cutlass_library")
    places = package.submodule_search_locations if package else None
    nvcc = shutil.which("nvcc")
    toolkits = [Path(nvcc).resolve().parents[1] / "include"] if nvcc else []
    cuda = next(
        (one for one in (*toolkits, Path("/usr/local/cuda/include")) if (one / "cuda_runtime.h").is_file()), None
    )
    if not places or cuda is None or shutil.which("g++") is None:
        return []
    return [Path(places[0]) / "source" / "include", cuda, cuda / "cccl"]


class Compiler:
    """The host's C++ compiler with the headers of CUTLASS, in a folder for what it makes."""

    def __init__(self, include: Path, cuda: Path, folder: Path) -> None:
        self.folder = folder
        paths = [include, cuda / "include", cuda / "include" / "cccl"]
        self.command = ["g++", "-std=c++17", "-O0", "-w", "-fmax-errors=0", "-ftemplate-backtrace-limit=0"]
        self.command += [f"-I{path}" for path in paths]
        (folder / "prelude.hpp").write_text(_PRELUDE)
        subprocess.run([*self.command, "-x", "c++-header", str(folder / "prelude.hpp")], check=True, cwd=folder)

    def answers(self, statements: list[str]) -> list[tuple[str, str]]:
        """What becomes of each statement: ``ok`` and what it prints, ``rejected`` or ``crashed`` and why."""
        found: dict[int, tuple[str, str]] = {}
        while left := [i for i in range(len(statements)) if i not in found]:
            refused = self._refused(statements, left, run=False) or self._refused(statements, left, run=True)
            if not refused:
                break
            found |= refused
        found |= self._run(left)
        return [found[i] for i in range(len(statements))]

    def _refused(self, statements: list[str], left: list[int], *, run: bool) -> dict[int, tuple[str, str]]:
        """The statements that the compiler does not take, with its first message on each."""
        lines = ['#include "prelude.hpp"', *(f"void case_{i}() {{ {statements[i]} }}" for i in left)]
        calls = " ".join(f"case {i}: case_{i}(); break;" for i in left)
        lines.append(f"int main(int, char** a) {{ switch (atoi(a[1])) {{ {calls} }} return 0; }}")
        (self.folder / "batch.cpp").write_text("\n".join(lines))
        how = ["-o", "batch"] if run else ["-fsyntax-only"]
        done = subprocess.run([*self.command, "batch.cpp", *how], cwd=self.folder, capture_output=True, text=True)
        if not done.returncode:
            return {}
        refused: dict[int, tuple[str, str]] = {}
        at: list[int] = []
        for line in done.stderr.splitlines():
            if match := re.match(r"batch\.cpp:(\d+):", line):
                at.append(left[int(match[1]) - 2])
            if match := re.search(r"error: (.*)", line):
                for one in at:
                    refused.setdefault(one, ("rejected", match[1][:200]))
                at = []
        if not refused:
            raise RuntimeError(f"the compiler refused no line of its own source: {done.stderr[:2000]}")
        return refused

    def _run(self, numbers: list[int]) -> dict[int, tuple[str, str]]:
        """What each prints, in a process of its own, which may die."""
        found = {}
        for i in numbers:
            done = subprocess.run([str(self.folder / "batch"), str(i)], capture_output=True, text=True, timeout=60)
            found[i] = ("ok", done.stdout) if done.returncode == 0 else ("crashed", f"exit status {done.returncode}")
        return found
