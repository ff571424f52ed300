"""Emit CUDA C++: a header with a struct of constants, a function for the first descriptor and one for the others.

Invariant: the expression of ``offset``, evaluated as C does, is the advance at every subtile.

>>> from descriptors import derive
>>> from descriptors.smem.emitters.recipe import recipe
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> lines = write(recipe(d, "a")).splitlines()
>>> (expression,) = (line.strip()[7:-1] for line in lines if line.startswith("    return mn"))
>>> expression = expression.replace("u", "").replace("/", "//")
>>> all(eval(expression, {"mn": mn, "k": k}) == d.advance(mn, k) for mn in range(2) for k in range(8))
True
"""

from __future__ import annotations

from descriptors.smem.emitters.recipe import Recipe
from descriptors.text import word_text

#: The head of a header. Functions are for host and device under ``nvcc``; a host compiler does not need CUDA.
HEAD = """\
#pragma once

#include <cstdint>

#ifndef SMEM_DESCRIPTOR_FUNCTION
#ifdef __CUDACC__
#define SMEM_DESCRIPTOR_FUNCTION __host__ __device__ __forceinline__ constexpr
#else
#define SMEM_DESCRIPTOR_FUNCTION constexpr
#endif
#endif

"""


def write(recipe: Recipe) -> str:
    r"""Write the struct, for CUDA C++ (C++14 and newer) and for any host compiler.

    Everything is ``constexpr``: with coordinates known at compile time, an advance is an addition and a mask. A struct,
    unlike a namespace, can be a template argument, and its unused constants do not cause warnings.

    >>> from descriptors import derive
    >>> from descriptors.smem.emitters.recipe import recipe
    >>> d = derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))
    >>> print(*[line.strip() for line in write(recipe(d, "a")).splitlines() if "return" in line], sep="\n")
    return mn * 512u + k % 4u * 2u + k / 4u * 1024u;
    return kWord | (tile_address & 0x3ffffu) >> 4;
    return first(TileAddress);
    return (first_descriptor & ~kStartField) |
    """
    typed = ", ".join(f"std::uint32_t {name}" for name in recipe.coordinates)
    address = f"(tile_address + {recipe.start_bytes}u)" if recipe.start_bytes else "tile_address"
    start, arguments = f"({address} & {recipe.window_mask:#x}u) >> {recipe.unit_bits}", ", ".join(recipe.coordinates)
    line = _crossing_parts(recipe) if recipe.line_low else ("", "", "", "")
    if recipe.line_low:
        start = f"static_cast<std::uint64_t>({start}) * {1 | 1 << recipe.line_low:#x}ull"
    return f"""{recipe.commented("//")}struct {recipe.name}_descriptor {{
  static constexpr std::uint64_t kWord = {word_text(recipe.word)}ull;  // every field but the start address{line[0]}
  static constexpr std::uint64_t kStartField = {recipe.field_mask:#x}ull;{line[1]}
  static constexpr std::uint32_t kAlignmentBytes = {recipe.alignment_bytes}u;
{_constants(recipe)}
  // From the first subtile to another, in 16-byte units.
  static SMEM_DESCRIPTOR_FUNCTION std::uint32_t offset({_signature(recipe, recipe.offset.coordinates)}) {{
    return {recipe.offset.spell("/", "u")};
  }}
{line[2]}
  // Descriptor of the first subtile; tile_address is the tile's shared-memory address (__cvta_generic_to_shared).
  static SMEM_DESCRIPTOR_FUNCTION std::uint64_t first(std::uint32_t tile_address) {{
    return kWord | {start};
  }}

  // The same of an address that is known at compile time, which is checked.
  template <std::uint32_t TileAddress>
  static SMEM_DESCRIPTOR_FUNCTION std::uint64_t first_at() {{
    static_assert(TileAddress % kAlignmentBytes == 0u, "the tile must start at a multiple of kAlignmentBytes");
    return first(TileAddress);
  }}

  // Descriptor of another subtile; the sum stays within the start-address field, whatever the address.
  static SMEM_DESCRIPTOR_FUNCTION std::uint64_t subtile(
      std::uint64_t first_descriptor, {typed}) {{
    return (first_descriptor & ~{"(kStartField | kLineField)" if recipe.line_low else "kStartField"}) |
           ((first_descriptor + offset({arguments})) & kStartField){line[3]};
  }}
}};
"""


def _constants(recipe: Recipe) -> str:
    """Return the constants of the struct: the transpose bit, if there is one, and the numbers of subtiles."""
    names = ("MN", *(name.capitalize() for name in recipe.coordinates[1:]))
    constant = "  static constexpr std::uint32_t "
    counts = [f"{constant}kSubtiles{name} = {extent}u;\n" for name, extent in zip(names, recipe.extents, strict=True)]
    return recipe.transposed_line(f"{constant}kTransposed = ", "u;  // ") + "".join(counts)


def _signature(recipe: Recipe, moving: frozenset[str]) -> str:
    """Return the coordinates as parameters; those without effect are unnamed, so that all signatures are alike."""
    return ", ".join(f"std::uint32_t {name if name in moving else f'/*{name}*/'}" for name in recipe.coordinates)


def _crossing_parts(recipe: Recipe) -> tuple[str, str, str, str]:
    """Return the additional parts for operands that cross atoms: comment, constant, function and part of the word."""
    function = f"""
  // From the line of 128 bytes of the first subtile to that in which K goes on of another, in 16-byte units.
  static SMEM_DESCRIPTOR_FUNCTION std::uint32_t line({_signature(recipe, recipe.line.coordinates)}) {{
    return {recipe.line.spell("/", "u")};
  }}
"""
    line_units = f"static_cast<std::uint64_t>(line({', '.join(recipe.coordinates)})) << {recipe.line_low}"
    return (
        " and the line in which K goes on",
        f"\n  static constexpr std::uint64_t kLineField = {recipe.line_mask:#x}ull;",
        function,
        f" |\n           ((first_descriptor + ({line_units})) & kLineField)",
    )
