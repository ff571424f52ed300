"""Emit a header for C99, C++11 and CUDA C++: macros, functions that use them, and compile-time checks.

In all three languages, a macro with constant arguments is a constant expression, so that a build fails if a word is
wrong. A macro may evaluate a coordinate more than once; a function evaluates it once.

Invariant: the expression of the offset, evaluated as C does, is the advance at every subtile.

>>> from descriptors import derive
>>> from descriptors.smem.emitters.recipe import recipe
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> macro = next(line for line in write(recipe(d, "a")).splitlines() if line.startswith("#define A_OFFSET_UNITS"))
>>> expression = macro.partition("(uint32_t)")[2].replace("u", "").replace("/", "//").removesuffix(")")
>>> all(eval(expression, {"mn": mn, "k": k}) == d.advance(mn, k) for mn in range(2) for k in range(8))
True
"""

from __future__ import annotations

from descriptors.smem.emitters.recipe import Recipe, TermSum
from descriptors.text import word_text
from layoutalg.frozen import replace

#: The head of a header: macros for a function and a check in each of the languages.
HEAD = """\
#pragma once

#include <stdint.h>

#ifndef SMEM_DESCRIPTOR_FUNCTION
#if defined(__CUDACC__)
#define SMEM_DESCRIPTOR_FUNCTION __host__ __device__ __forceinline__ constexpr
#elif defined(__cplusplus)
#define SMEM_DESCRIPTOR_FUNCTION constexpr
#else
#define SMEM_DESCRIPTOR_FUNCTION static inline
#endif
#endif

#ifndef SMEM_DESCRIPTOR_CHECK
#if defined(__cplusplus)
#define SMEM_DESCRIPTOR_CHECK(condition, name) static_assert(condition, #name)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define SMEM_DESCRIPTOR_CHECK(condition, name) _Static_assert(condition, #name)
#else
#define SMEM_DESCRIPTOR_CHECK(condition, name) typedef char name[(condition) ? 1 : -1]
#endif
#endif

"""


def write(recipe: Recipe) -> str:
    r"""Write the macros, functions and checks for C, C++ and CUDA C++.

    >>> from descriptors import derive
    >>> from descriptors.smem.emitters.recipe import recipe
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> print(*[line for line in write(recipe(d, "a")).splitlines() if "CHECK" in line][1:3], sep="\n")
    SMEM_DESCRIPTOR_CHECK(A_SUBTILE_WORD(A_FIRST_WORD(1024u), 0u, 0u) == 0x4000404000010040ull, a_word_0_0);
    SMEM_DESCRIPTOR_CHECK(A_SUBTILE_WORD(A_FIRST_WORD(1024u), 0u, 7u) == 0x4000404000010446ull, a_word_0_7);
    """
    name, constant, line = recipe.name, recipe.constant, bool(recipe.line_low)
    arguments = ", ".join(recipe.coordinates)
    typed = ", ".join(f"uint32_t {coordinate}" for coordinate in recipe.coordinates)
    address = "(uint32_t)(address)" + (f" + {recipe.start_bytes}u" if recipe.start_bytes else "")
    start = f"(uint64_t)((({address}) & {recipe.window_mask:#x}u) >> {recipe.unit_bits})"
    fields = constant("START_FIELD")
    subtile_fields = f"(((first) + {constant('OFFSET_UNITS')}({arguments})) & {fields})"
    if line:
        fields = f"({fields} | {constant('LINE_FIELD')})"
        start += f" * {1 | 1 << recipe.line_low:#x}ull"
        further = f"(uint64_t){constant('LINE_UNITS')}({arguments}) << {recipe.line_low}"
        subtile_fields += f" | (((first) + ({further})) & {constant('LINE_FIELD')})"
    crossing_macros = _crossing_macros(recipe) if line else ""
    return f"""{recipe.commented("//")}{_constants(recipe)}// From the first subtile to another, in 16-byte units.
#define {constant("OFFSET_UNITS")}({arguments}) ((uint32_t)({_sum(recipe, recipe.offset)}))
{crossing_macros}// Descriptor of the first subtile; the address is that of the tile in shared memory.
#define {constant("FIRST_WORD")}(address) ({constant("WORD")} | {start})
// Descriptor of another subtile; the sum stays within the start-address field, whatever the address.
#define {constant("SUBTILE_WORD")}(first, {arguments}) \\
  (((first) & ~{fields}) | {subtile_fields})

SMEM_DESCRIPTOR_FUNCTION uint64_t {name}_first(uint32_t tile_address) {{
  return {constant("FIRST_WORD")}(tile_address);
}}

SMEM_DESCRIPTOR_FUNCTION uint64_t {name}_subtile(uint64_t first_descriptor, {typed}) {{
  return {constant("SUBTILE_WORD")}(first_descriptor, {arguments});
}}

{_checks(recipe)}"""


def _crossing_macros(recipe: Recipe) -> str:
    """Return the additional macros for operands that cross atoms."""
    return f"""#define {recipe.constant("LINE_FIELD")} {recipe.line_mask:#x}ull
// From the line of 128 bytes of the first subtile to that in which K goes on of another, in 16-byte units.
#define {recipe.constant("LINE_UNITS")}({", ".join(recipe.coordinates)}) \\
  ((uint32_t)({_sum(recipe, recipe.line)}))
"""


def _constants(recipe: Recipe) -> str:
    """Return the macros of the word, the fields, the alignment, the transpose bit and the numbers of subtiles."""
    constant = recipe.constant
    definitions = f"""#define {constant("WORD")} {word_text(recipe.word)}ull  // every field but the start address
#define {constant("START_FIELD")} {recipe.field_mask:#x}ull
#define {constant("ALIGNMENT_BYTES")} {recipe.alignment_bytes}u
"""
    definitions += recipe.transposed_line(f"#define {constant('TRANSPOSED')} ", "u  // ")
    for name, extent in zip(recipe.coordinates, recipe.extents, strict=True):
        definitions += f"#define {constant(f'subtiles_{name}')} {extent}u\n"
    return definitions


def _sum(recipe: Recipe, total: TermSum) -> str:
    """Return a sum of terms over the arguments of a macro; it uses arguments without effect too, to avoid warnings."""
    spelled = [replace(term, coordinate=f"({term.coordinate})").spell("/", "u") for term in total.terms]
    spelled += [f"0u * ({name})" for name in recipe.coordinates if name not in total.coordinates]
    return " + ".join(spelled)


def _checks(recipe: Recipe) -> str:
    """Return checks that compare the macros with the words of the derivation, at the corners of the tile."""
    constant, name = recipe.constant, recipe.name
    about = f"{constant('ALIGNMENT_BYTES')} != 0u && ({constant('WORD')} & {constant('START_FIELD')}) == 0u"
    checks = [f"SMEM_DESCRIPTOR_CHECK({about}, {name}_start_is_free);"]
    for coordinate, word in recipe.checks:
        arguments = ", ".join(f"{index}u" for index in coordinate)
        call = f"{constant('SUBTILE_WORD')}({constant('FIRST_WORD')}({recipe.alignment_bytes}u), {arguments})"
        suffix = "_".join(map(str, coordinate))
        checks.append(f"SMEM_DESCRIPTOR_CHECK({call} == {word_text(word)}ull, {name}_word_{suffix});")
    return "\n".join(checks) + "\n"
