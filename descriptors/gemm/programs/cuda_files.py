r"""Assemble CUDA programs from the ``.cuh`` files of this folder and the constants of a plan.

The files are CUDA C++ that editors and nvcc can read. They include each other, and ``plan.cuh``, which is written from
the plan. Where programs differ in more than a number, the files test an *option* of the plan with ``#if``. An emitted
program is a single file: includes are replaced by the text of the files, and conditions on options by the lines that
they select.

>>> print(resolve("#if SPLIT && !CLUSTERED\nadd();\n#elif SPLIT\nwait();\n#endif\nstore();", {"SPLIT": 1}))
add();
store();
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

from descriptors.smem.emitters.recipe import check_identifier

#: The options of the files; each is 0 if a plan does not set it.
OPTIONS = (
    "ALPHA_BETA", "BARRIERS_USED", "BIAS", "CLUSTERED", "CONVOLUTION", "D_F16", "D_S32", "EARLY_RELEASE",
    "FACTOR_MANTISSA", "FINISHED", "LOADED_A", "NARROW", "PAIR", "PIECE_16", "PIECE_32", "PROMOTED", "REALLOCATED",
    "ROW_SCALES", "SCALED", "SELECTED", "SPARSE", "SPLIT", "STAGED", "STORED_MATRICES", "TERMS", "TURNS",
)  # fmt: skip
_CONDITION = re.compile(r"#(if|elif|else|endif|ifdef|ifndef)\b *(.*)")
#: Comments and quoted texts, whose words are not identifiers.
_NO_CODE = re.compile(r"""//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""")
#: Keywords of C++, and names that the headers of C, C++ and CUDA declare outside a namespace or define as macros.
_RESERVED = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
    co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do
    double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
    requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
    true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq
    EOF NULL alloca assert dim3 errno fd_mask fd_set half half2 libraryPropertyType linux main nv offsetof std stderr
    stdin stdout uint ulong unix ushort va_list warpSize
    """.split()
)
#: Patterns of such names: reserved identifiers, C types, CUDA vector types, and the prefixes of CUDA's headers.
_RESERVED_FAMILY = re.compile(
    r"_[_A-Z]\w*|\w*__\w*|\w+_t|u_\w+|(?:u?(?:char|short|int|long|longlong)|float|double)[1-4](?:_\w+)?|nv_\w+"
    r"|(?:CU|cu[A-Z]|cuda|cuuint|PFN_)\w*"
)
#: Stands in for a condition that is resolved.
_SEAM = "\0"
_WIDTH = 120
_INCLUDE = re.compile(r'#include "(\w+)\.cuh"')


def assemble(name: str, pieces: Mapping[str, str], options: Mapping[str, int], kernel: str = "gemm") -> str:
    """Return a program: a file with everything that it includes.

    Args:
        name: name of the file, without ``.cuh``.
        pieces: texts written from the plan, by the names under which they are included; ``plan`` has its constants.
        options: the options of the plan that are not 0.
        kernel: name of the kernel and the program, which is ``gemm`` in the files.

    Raises:
        DescriptorError: if C++, CUDA or the program itself uses the name for something else.

    >>> text = assemble("barriers", {"plan": "// constants"}, {}, "product")
    >>> text.splitlines()[:3], "mbarrier" in text
    (['// Addresses in shared memory, and the barriers there.', '// constants', ''], False)
    """
    text = resolve(f'#include "{name}.cuh"', options, pieces)
    text = re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"
    if kernel == "gemm":
        return text
    check_identifier(kernel, "C++, CUDA or the program", lambda name: _is_used(name, text))
    return re.sub(r"\bgemm\b", kernel, text)


def _is_used(name: str, program: str) -> bool:
    """Return whether C++, CUDA or a program uses a name.

    >>> [_is_used(name, "int a = 'b'; // c") for name in ("a", "b", "c", "class", "uint4")]
    [True, False, False, True, True]
    """
    return (
        name in _RESERVED
        or _RESERVED_FAMILY.fullmatch(name) is not None
        or re.search(rf"\b{name}\b", _NO_CODE.sub("", program)) is not None
    )


def resolve(text: str, options: Mapping[str, int], pieces: Mapping[str, str] | None = None) -> str:
    """Return the text with includes replaced by files, and conditions on options by the lines that they select.

    Args:
        text: lines of CUDA C++.
        options: the options that are not 0.
        pieces: included texts that are not files, by name.
    """
    lines, seam = list[str](), False
    for line in _selected(text, dict.fromkeys(OPTIONS, 0) | dict(options), dict(pieces or {})):
        if line == _SEAM:
            seam = True
            continue
        rest = line.lstrip()
        if seam and rest and lines and (rest[0] in ",;)" or lines[-1].endswith(",")):
            # The text after a condition belongs to the statement before the condition.
            joined = lines[-1] + (rest if rest[0] in ",;)" else f" {rest}")
            if len(joined) <= _WIDTH or rest[0] in ";)":
                line = joined
            else:
                line = f"{lines[-1].removesuffix(',')},\n{line.replace(', ', '', rest[0] == ',')}"
            lines.pop()
        lines.append(line)
        seam = False
    return "\n".join(lines)


def _selected(text: str, options: Mapping[str, int], texts: dict[str, str]) -> Iterator[str]:
    """Yield the selected lines. A file is included once; ``texts`` has texts by name and replaces files."""
    # For each open condition: whether its current branch is selected, and any branch so far; None if the text stays.
    frames = list[list[bool] | None]()
    for line in text.splitlines():
        if (condition := _CONDITION.match(line)) is not None:
            word, condition_text = condition.groups()
            if word.startswith("if"):
                value = _value(condition_text, options) if word == "if" else None
                frames.append(None if value is None else [value, value])
            frame = frames[-1]
            if frame is not None and word in ("elif", "else"):
                selected = not frame[1] and (word == "else" or bool(_value(condition_text, options)))
                frame[:] = [selected, frame[1] or selected]
            if word == "endif":
                frames.pop()
            if frame is not None:
                yield _SEAM
                continue
        if line == "#pragma once" or not all(frame is None or frame[0] for frame in frames):
            continue
        if (include := _INCLUDE.match(line)) is None:
            yield line
        elif include[1] in texts:
            yield from texts.pop(include[1]).splitlines()
            texts[include[1]] = ""
            yield ""
        else:
            texts[include[1]] = ""
            yield from _selected(source(include[1]), options, texts)
            yield ""


def _value(condition: str, options: Mapping[str, int]) -> bool | None:
    """Return whether a condition holds; None if it does not consist of options only."""
    if not set(re.findall(r"[A-Za-z_]\w*", condition)) <= options.keys():
        return None
    text = re.sub(r"!(?!=)", " not ", condition.replace("&&", " and ").replace("||", " or "))
    return bool(eval(text.strip(), {"__builtins__": {}}, dict(options)))  # noqa: S307  # our own files


def source(name: str) -> str:
    """Return the text of a file of CUDA C++.

    Args:
        name: name of the file, without ``.cuh``.
    """
    return files("descriptors.gemm.programs").joinpath(f"{name}.cuh").read_text(encoding="utf-8")
