"""Evaluate expressions of the algebra, such as ``zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16))``.

This is the notation of :mod:`layoutalg.notation.parser` and calls of operations. It adds to the grammar::

    part      = ... | name "(" [argument {"," argument}] ")" | "[" [value {"," value}] "]" | "True" | "False"
              | name {"." word}              the fragment of an instruction: mma.m16n8k16.C
    argument  = value | name "=" value
    part      = part "(" coordinate ")"      a call of a layout or swizzle: its offset, or a slice if "_" keeps a mode
              | part "[" integer "]"         one mode of a layout

A name is that of an operation in :data:`OPERATIONS` or of a fragment (:mod:`layoutalg.fragments.fragment_names`).
Python's ``eval`` is not used.

Invariant: an expression has the value of the same call in Python: ``evaluate(f"coalesce({a})") == coalesce(a)``.

>>> from layoutalg import Layout, coalesce
>>> a = Layout(((2, 4), 8), ((1, 2), 8))
>>> evaluate(f"coalesce({a})") == coalesce(a)
True
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from layoutalg.errors import LayoutError, NotationError
from layoutalg.fragments.copy_atoms import CopyAtom
from layoutalg.fragments.fragment_names import fragment
from layoutalg.fragments.tiled_copy import TiledCopy
from layoutalg.fragments.tiled_mma import MmaAtom, TiledMma
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.notation.cpp_types import from_cpp
from layoutalg.notation.parser import Parser
from layoutalg.notation.printed import as_notation
from layoutalg.notation.tiled import Passage, is_around, passages
from layoutalg.notation.tokens import Token
from layoutalg.tuples.int_tuple import safe_text, text

if TYPE_CHECKING:
    from inspect import BoundArguments

#: Every operation that an expression may call, by topic. The names are those of the public package.
OPERATIONS: dict[str, tuple[str, ...]] = {
    "Make": (
        *("Layout", "ComposedLayout", "Swizzle", "E", "make_layout", "make_ordered_layout", "make_layout_like"),
        *("make_composed_layout", "make_identity_layout", "make_layout_tv"),
    ),
    "Look at": (
        *("size", "cosize", "rank", "depth", "leading_dim", "is_congruent", "is_weakly_congruent", "product"),
        *("crd2idx", "idx2crd", "max_common_layout", "max_common_vector"),
    ),
    "Calculate with tuples": (
        *("tuple_add", "tuple_sub", "product_each", "shape_div", "ceil_div", "increment_coord", "elem_less"),
    ),
    "Rearrange": (
        *("get", "select", "flatten", "append", "prepend", "group_modes", "slice_", "slice_and_offset", "dice"),
        *("coalesce", "filter", "filter_zeros"),
    ),
    "Compose and invert": ("composition", "with_shape", "complement", "right_inverse", "left_inverse", "nullspace"),
    "Divide": ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide", "local_tile", "local_partition"),
    "Multiply": (
        *("logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product"),
        "tile_to_shape",
    ),
    "Change the unit": ("recast_layout", "upcast", "downcast"),
    "Copies and MMAs": (
        *("copy_atom", "mma_atom", "make_tiled_copy", "make_tiled_copy_tv", "make_tiled_copy_A", "make_tiled_copy_B"),
        *("make_tiled_copy_C", "make_tiled_copy_C_atom", "make_tiled_copy_S", "make_tiled_copy_D", "make_cotiled_copy"),
        *("make_tiled_mma", "partition_S", "partition_D", "partition_A", "partition_B", "partition_C"),
        *("thrfrg_S", "thrfrg_D", "thrfrg_A", "thrfrg_B", "thrfrg_C", "retile", "tma_partition", "owners"),
    ),
}

#: The operations by module. The modules are imported when the first expression is read.
_MODULES: dict[str, tuple[str, ...]] = {
    "algebra.arithmetic": (
        *("tuple_add", "tuple_sub", "product_each", "shape_div", "ceil_div", "increment_coord", "elem_less"),
    ),
    "algebra.coalesce": ("coalesce", "filter", "filter_zeros"),
    "algebra.complement": ("complement",),
    "algebra.composition": ("composition", "with_shape"),
    "algebra.divide": ("logical_divide", "zipped_divide", "tiled_divide", "flat_divide"),
    "algebra.inverse": ("right_inverse", "left_inverse", "nullspace", "max_common_layout", "max_common_vector"),
    "algebra.make": (
        *("make_layout", "make_ordered_layout", "make_layout_like", "make_composed_layout"),
        "make_identity_layout",
    ),
    "algebra.products": (
        *("logical_product", "zipped_product", "tiled_product", "flat_product", "blocked_product", "raked_product"),
        "tile_to_shape",
    ),
    "algebra.rearrange": ("select", "flatten", "append", "prepend", "group_modes"),
    "algebra.recast": ("recast_layout", "upcast", "downcast"),
    "algebra.slicing": ("slice_", "slice_and_offset", "dice"),
    "algebra.tiling": ("local_tile", "local_partition"),
    "fragments.copy_atoms": ("copy_atom",),
    "fragments.partitions": (
        *("partition_S", "partition_D", "partition_A", "partition_B", "partition_C"),
        *("thrfrg_S", "thrfrg_D", "thrfrg_A", "thrfrg_B", "thrfrg_C", "retile", "owners"),
    ),
    "fragments.tiled_copy": (
        *("make_layout_tv", "make_tiled_copy", "make_tiled_copy_tv", "make_tiled_copy_A", "make_tiled_copy_B"),
        *("make_tiled_copy_C", "make_tiled_copy_C_atom", "make_tiled_copy_S", "make_tiled_copy_D", "make_cotiled_copy"),
    ),
    "fragments.tiled_mma": ("mma_atom", "make_tiled_mma"),
    "fragments.tma_partition": ("tma_partition",),
    "layouts.composed": ("ComposedLayout",),
    "layouts.cosize": ("cosize",),
    "layouts.layout": ("Layout",),
    "layouts.modes": (
        *("size", "rank", "depth", "get", "leading_dim", "is_congruent", "is_weakly_congruent"),
        *("crd2idx", "idx2crd"),
    ),
    "layouts.swizzle": ("Swizzle",),
    "tuples.scaled_basis": ("E",),
    "tuples.int_tuple": ("product",),
}


def operations() -> dict[str, Callable[..., Any]]:
    """Return the functions that an expression may call, by name.

    >>> sorted(operations())[:3]
    ['ComposedLayout', 'E', 'Layout']
    """
    modules = {name: module for module, names in _MODULES.items() for name in names}
    return {
        name: getattr(import_module(f"layoutalg.{modules[name]}"), name)
        for names in OPERATIONS.values()
        for name in names
    }


def evaluate(source: str) -> Any:
    """Return the value of an expression.

    The value is a layout, a swizzle, an integer, a scaled basis element (``E(1)``), a truth value, ``None``, or a tuple
    of such values; for what CuTe prints of a tiled copy or a tiled MMA, that copy or MMA.

    Args:
        source: the expression, in CuTe notation with calls of the operations of the algebra; or a tensor, a tiled copy
            or a tiled MMA as CuTe prints it; or a layout of another compiler (:func:`layoutalg.parse_encoding`).

    Raises:
        NotationError: if the text is not an expression.
        LayoutError: if an operation does not accept its operands.

    >>> print(evaluate("zipped_divide(((8,16),(64,2)):((64,512),(1,8192)), (64,16))"))
    ((64,16),(2,(4,2))):((64,1),(4096,(16,8192)))
    >>> evaluate("size(coalesce((2,(1,6)):(1,(6,2)), target_profile=(1,1)), mode=[1])")
    6
    >>> evaluate("(S<3,4,3> o 0 o (8,64):(64,1))(2, 5)")
    149
    """
    return evaluate_with_notes(source)[0]


def evaluate_with_notes(source: str) -> tuple[Any, list[str]]:
    """Return the value of an expression, and a note for each operation that covers more than its tensor.

    >>> value, notes = evaluate_with_notes("zipped_divide((10,64):(64,1), (16,16), round_up=True)")
    >>> print(notes[0].partition("; ")[0])
    zipped_divide covers 1024 elements, but the layout has 640
    """
    parts = passages(source)
    if not parts:
        parser = ExpressionParser(source)
    elif is_around(parts):
        parser = _parser_around_prints(source, parts)
    else:
        values = [value for _, value in entries(source)]
        return values[0] if len(values) == 1 else tuple(values), []
    return parser.parse_all(), parser.notes


def entries(source: str) -> list[tuple[str, Any]]:
    """Return the label and the value of each print in a text, and of each tensor or layout in a line between them.

    Raises:
        NotationError: if a line is neither a print, nor a label, nor an expression.
        LayoutError: if the lines of a print do not fit together.

    >>> text = "gA: (8,8):(8,1)\\natom:\\nCopy_Atom\\n ValLayoutSrc: (1,8):(0,1)\\n ValLayoutDst: (1,8):(0,1)"
    >>> [(label, type(value).__name__) for label, value in entries(text)]
    [('gA', 'Layout'), ('atom', 'CopyAtom')]
    """
    listed: list[tuple[str, Any]] = []
    label = ""
    for part in passages(source):
        if part.lines is not None:
            listed.append((label, part.value()))
            label = ""
            continue
        for line in part.text.splitlines():
            bare = line.strip(" \t/*|>")
            name, colon, value = bare.partition("=" if "=" in bare.partition(":")[0] else ":")
            is_name = all(letter.isalnum() or letter in "_ .<>[]-" for letter in name) and not name[:1].isdigit()
            if not bare:
                continue
            if is_name and not value.strip():
                label = name.strip()
                continue
            try:
                listed.append((name.strip(), evaluate(value)) if colon and is_name else ("", evaluate(bare)))
            except LayoutError as error:
                raise NotationError(
                    f"notation: the line {safe_text(bare[:60])!r} between the prints is neither a label nor an "
                    f"expression; {error}",
                    source,
                    part.start,
                ) from None
            label = ""
    return listed


def _parser_around_prints(source: str, parts: list[Passage]) -> ExpressionParser:
    """Return the parser of an expression whose operands are prints."""
    values: dict[str, Any] = {}
    text = source
    for part in parts:
        if part.lines is not None:
            name = f"print.{len(values)}"
            values[name] = part.value()
            text = f"{text[: part.start]}{name.ljust(part.end - part.start)}{text[part.end :]}"  # positions stay
    parser = ExpressionParser(text, values)
    parser.text = source
    return parser


class ExpressionParser(Parser):
    """A parser that evaluates the calls of operations. A subclass may create other values for them."""

    def __init__(self, text: str, values: dict[str, Any] | None = None) -> None:
        self.values = values or {}
        # The tokenizer of the notation does not support brackets: they are tokenized as parentheses, then restored.
        text = from_cpp(text)
        plain = as_notation(text)
        if isinstance(plain, str) and any(f"{name}(" in plain for name in _WITH_TEXTS):  # names in quotation marks
            import re

            plain = re.sub(r"""(["'])([\w.:]*)\1""", r" \2 ", plain)
        super().__init__(plain.translate(_TO_PARENTHESES) if isinstance(plain, str) else plain)
        self.notes: list[str] = []
        self.text = text
        self.tokens = [_restore_bracket(token, plain) for token in self.tokens]

    def parse_part(self) -> Any:
        """Read a part of the notation, a list or a call, followed by any number of calls and modes of its value."""
        start = self.token
        value = self._list() if self.take("[") else super().parse_part()
        while start.kind != "int" and self.token.text in ("(", "["):
            if not self.is_function(value):
                break
            value = self.image(value, self._arguments()[0]) if self.take("(") else self._mode(value)
        return value

    def is_symbol(self, name: str) -> bool:
        """Check if a name is the name of a symbol: not of an operation, and not followed by ``(`` or ``=``."""
        following = self.tokens[min(self.next + 1, len(self.tokens) - 1)].text
        if name in _STRIDE_ORDERS or following in ("(", "="):
            return False
        return super().is_symbol(name) and name not in operations()

    def parse_name(self) -> Any:
        """Read a constant, a fragment, or an operation with its operands."""
        for word, value in (("None", None), ("True", True), ("False", False)):
            if self.take(word):
                return value
        name = self.token
        if name.text in self.values:
            self.next += 1
            return self.values[name.text]
        if name.text in _STRIDE_ORDERS:
            self.reject(f"{name.text} is not supported as a stride", f"; {_STRIDE_ORDERS[name.text]}")
        if "." in name.text:
            self.next += 1
            registers = fragment(name.text).layout
            return self.layout(registers.shape, registers.stride, self.next)
        functions = operations()
        if name.text not in functions:
            self.reject(f"{name.text[:40]!r} is not an operation of the algebra{hint(name.text, functions)}")
        self.next += 1
        self.expect("(")
        positional, keywords = self._arguments(allow_names=True, texts=name.text in _WITH_TEXTS)
        return self.apply(name.text, functions[name.text], positional, keywords)

    def apply(self, name: str, function: Callable[..., Any], positional: list[Any], keywords: dict[str, Any]) -> Any:
        """Return the value of an operation.

        Raises:
            LayoutError: if an operand is a copy or an MMA and the operation takes layouts only.
        """
        needs_layouts = name not in OPERATIONS["Copies and MMAs"]
        for operand in (*positional, *keywords.values()) if needs_layouts else ():
            if isinstance(operand, (TiledCopy, TiledMma, CopyAtom, MmaAtom)):
                raise LayoutError(
                    f"{name}: {safe_text(operand)} is not a layout; supported operations are those of copies and MMAs, "
                    "such as partition_S and partition_C; `layoutalg ops` lists them"
                )
        value = apply_operation(name, function, positional, keywords)
        if keywords.get("round_up"):
            bound = bind_operation(name, function, positional, keywords).arguments
            self.notes += _rounded_note(name, value, *list(bound.values())[:2])
        return value

    def image(self, function: Any, coordinate: list[Any]) -> Any:
        """Return the value of a layout or swizzle at a coordinate."""
        return apply_operation(str(function), function, coordinate, {})

    def mode(self, layout: Any, index: int) -> Any:
        """Return one mode of a layout."""
        if not 0 <= index < len(layout):
            raise LayoutError(f"mode: index {index} is not in [0,{len(layout)}); layout = {layout}")
        return layout[index]

    def _arguments(self, allow_names: bool = False, texts: bool = False) -> tuple[list[Any], dict[str, Any]]:
        """Read operands; with ``texts``, a name that stands alone is a text, such as that of an instruction."""
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        while not self.take(")"):
            if allow_names and self.token.kind == "name" and self.tokens[self.next + 1].text == "=":
                key = self.token.text
                if key in keywords:
                    self.reject(f"the argument {key} is given twice")
                self.next += 2
                keywords[key] = self._argument(texts)
            elif keywords:
                self.reject("an argument without a name follows an argument with a name")
            else:
                positional.append(self._argument(texts))
            if not self.take(","):
                self.expect(")")
                break
        return positional, keywords

    def _argument(self, texts: bool) -> Any:
        name, following = self.token, self.tokens[min(self.next + 1, len(self.tokens) - 1)].text
        alone = name.kind == "name" and following in (",", ")") and name.text not in self.values
        if texts and alone and name.text not in ("None", "True", "False"):
            self.next += 1
            return name.text
        return self.parse_value()

    def _list(self) -> tuple[Any, ...]:
        return tuple(self._items("]", tiler=True))

    def _mode(self, layout: Any) -> Any:
        self.expect("[")
        if isinstance(layout, Swizzle):
            self.reject("a swizzle has no modes")
        index = self.integer()
        self.expect("]")
        return self.mode(layout, index)


def _rounded_note(name: str, value: Any, target: Any, tiler: Any) -> list[str]:
    """Return a note on how much a result that is rounded up covers; none if it covers no more than its tensor."""
    functions = operations()
    if name.startswith("local"):  # one part of a zipped divide
        if isinstance(tiler, Layout):
            tiler = functions["product_each"](tiler.shape)
        name, value = "zipped_divide", functions["zipped_divide"](target, tiler, round_up=True)
    kind, shape = ("shape", tiler) if name == "tile_to_shape" else ("layout", target.shape)
    covered, present = functions["size"](value), functions["size"](shape)
    if covered == present:
        return []
    fact = f"{name} covers {covered} elements, but the {kind} has {present}"
    if name == "tile_to_shape":
        return [f"{fact}; a coordinate c is inside if elem_less(c, {text(shape)})"]
    # The modes of the layout may join where those of its identity do not; then coordinates of whole modes are given.
    for extents in (shape, functions["product_each"](shape), present):
        identity = functions["make_identity_layout"](extents)
        try:
            functions[name](identity, tiler, round_up=True)
        except LayoutError:
            continue
        places = f"{name}({identity}, {_operand_text(tiler)}, round_up=True)"
        inside = f"elem_less(c, {text(extents)})"
        return [f"{fact}; {places} gives the coordinate c of each element, which is inside if {inside}"]
    return [fact]


def _operand_text(tiler: Any) -> str:
    """Return a tiler in notation; a tuple of one layout needs a comma."""
    if type(tiler) is tuple and len(tiler) == 1:
        return f"({_operand_text(tiler[0])},)"
    return f"({','.join(map(_operand_text, tiler))})" if type(tiler) is tuple else text(tiler)


def apply_operation(name: str, function: Callable[..., Any], positional: list[Any], keywords: dict[str, Any]) -> Any:
    """Call an operation with operands that a user wrote, and convert every exception to a LayoutError.

    Raises:
        LayoutError: if the operation raises one, has no such parameters, or does not accept the types of the operands.

    >>> apply_operation("abs", abs, [-3], {})
    3
    """
    operands = _arguments_text(positional, keywords)
    bound = bind_operation(name, function, positional, keywords)
    try:
        return function(*bound.args, **bound.kwargs)
    except LayoutError:
        raise
    except (TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError) as error:
        raise LayoutError(f"{name}: the types of the operands are not supported; operands = {operands}") from error
    except MemoryError:
        raise LayoutError(f"{name}: the result does not fit in memory; operands = {operands}") from None


def bind_operation(
    name: str, function: Callable[..., Any], positional: list[Any], keywords: dict[str, Any]
) -> BoundArguments:
    """Bind the operands that a user wrote to the parameters of an operation.

    Raises:
        LayoutError: if the operation has no such parameters.

    >>> bind_operation("abs", abs, [-3], {}).args
    (-3,)
    """
    from inspect import signature

    try:
        return signature(function).bind(*positional, **keywords)
    except TypeError as error:
        raise LayoutError(f"{name}: {error}; operands = {_arguments_text(positional, keywords)}") from None


def _arguments_text(positional: list[Any], keywords: dict[str, Any]) -> str:
    """Return the operands as text for a message."""
    return ", ".join([*map(safe_text, positional), *(f"{key}={safe_text(value)}" for key, value in keywords.items())])


#: Operations with operands that are names: of an instruction, or of a side or operand (S, D, A, B, C, smem, rmem).
_WITH_TEXTS = frozenset(
    "copy_atom mma_atom make_tiled_copy make_tiled_copy_tv make_tiled_copy_A make_tiled_copy_B make_tiled_copy_C "
    "make_tiled_copy_C_atom make_tiled_copy_S make_tiled_copy_D make_cotiled_copy make_tiled_mma owners".split()
)

#: Orders of strides in C++, which depend on the shape, and what to write instead.
_STRIDE_ORDERS = {
    "LayoutLeft": "give no stride: make_layout(shape) has the first mode fastest",
    "LayoutRight": "give an order: make_ordered_layout((4,8), (1,0)) has the last mode fastest",
    "GenColMajor": "give no stride: make_layout(shape) has the first mode fastest",
    "GenRowMajor": "give an order: make_ordered_layout((4,8), (1,0)) has the last mode fastest",
}
#: Names in other programs and books for an operation.
_OTHER_NAMES = {
    "S": "S<3,4,3>, or Swizzle",
    "Sw": "Sw<3,4,3>, or Swizzle",
    "compose": "composition",
    "concat": "make_layout",
    "group": "group_modes",
    "inverse": "right_inverse or left_inverse",
    "mode": "get",
    "tile": "zipped_divide",
}
_TO_PARENTHESES = str.maketrans("[]", "()")


def _restore_bracket(token: Token, source: str) -> Token:
    """Return the token, as a bracket if the source has one at its position."""
    original = source[token.position : token.position + 1]
    return Token("mark", original, token.position) if original and original in "[]" else token


def hint(name: str, functions: dict[str, Any]) -> str:
    """Return a suggestion for a misspelled function name as the end of a message; "" if no name is similar.

    >>> hint("compositon", operations())
    ' (did you mean composition?)'
    """
    from difflib import get_close_matches

    near = [_OTHER_NAMES[name]] if name in _OTHER_NAMES else get_close_matches(name, functions, n=1)
    return f" (did you mean {near[0]}?)" if near else ""
