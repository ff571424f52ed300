"""The syntax of instructions other than multiplications: copies, mbarriers, fences, tensor maps, matrices.

A form is a row: the name of an instruction, its qualifiers, its operands, and the feature that the target and the
version of PTX must support. An instruction is valid if it matches a form of its name. Otherwise the violations are the
differences from the nearest form.

    qualifiers   ``a|b`` one of them, ``[a|b]`` at most one, ``a.b`` both; in any order, except state spaces and
                 formats of matrices, which are joined with ``+``; a qualifier with ``$`` is the last
    operands     ``[]`` an address, ``[b64]`` an address in 64 bits, ``[g]`` the same if there is no state space; ``at``
                 an address with or without brackets; ``[D]`` an address with D coordinates, D from the qualifier
                 ``2d``; ``[O]`` an address with the values that override those of a tensor map; ``b32`` a register of
                 32 bits, or a number; ``=b32`` a register; ``type`` a value of the type among the qualifiers; ``pred``;
                 ``number`` (``number*16`` a multiple, ``number:1:5`` in a range), ``#`` the same, but not a register;
                 ``[*]`` any address, ``value`` anything else, ``any`` both, if the class is checked elsewhere; ``vR``
                 the registers of a load or store of tensor memory, ``vM`` and ``vH`` those of metadata and data of a
                 compressed load;
                 ``v2`` a vector of two offsets, ``vD-2`` one of D - 2; ``vX`` a vector of X registers, X from the
                 qualifier ``x4``, ``v2X`` of twice as many; ``v2:type`` a vector of values; ``v1:b32`` a vector of one,
                 as ``{%r1}``; ``_`` the sink; ``a/b`` either of both;
                 ``word?a`` only if the qualifier is given; ``?a`` optional

Source: ptxas 13.5.37 (``.version 9.5``), run on combinations of all of these on nineteen targets; PTX ISA 9.1 and 9.4.

Invariant: the first choices of a form, without optional qualifiers, match that form.

>>> def first_choices(form): return frozenset(w for slot in form.slots if slot.needed for w in slot.choices[0])
>>> all(not list(_qualifier_differences(form, first_choices(form), ())) for row in forms().values() for form in row)
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from descriptors.check.ptx.ptx_module import Instruction
from descriptors.check.ptx.ptx_operands import Address, Operand, Pair, Vector, alone
from descriptors.check.tensor_forms import tensor_forms
from descriptors.targets import has, lacking
from descriptors.text import counted
from descriptors.tmem.moves import MOST, tmem_move

_TX, _HINT, _MASK = "mbarrier::complete_tx::bytes", "[L2::cache_hint]", "multicast::cluster|multicast::cluster::16b"
_MANY = f"[{_MASK}|multicast::cluster::32b]"
_VALID = "mbarrier::report::validity::per_"
_REPORT = "[" + "|".join(_VALID + w for w in ("16bytes::80000000", "16bytes::8000", "16bytes::80", "16bytes::8",
                                             "element::ff")) + "]"  # fmt: skip
_SCOPES = "cta|cluster|gpu|sys"
#: The assembler accepts a scope without an order in tensor copies; the manual has none.
_SCOPE = f"[{_SCOPES}]"
_ORDERS = ("acq_rel", "acquire", "relaxed", "release")
_RELAXED = "|".join(f"relaxed.{one}" for one in _SCOPES.split("|"))
_IN_CLUSTER = "relaxed.cta|relaxed.cluster"
_OWN, _ANY = "[shared|shared::cta]", "[shared|shared::cta|shared::cluster]"
_MASKS = "multicast::cluster?b16, multicast::cluster::16b?b16, multicast::cluster::32b?b32, L2::cache_hint?b64"
#: The assembler accepts braces around the mask of a copy without a tensor map, and around a count of arrivals.
_BRACED = _MASKS.replace("?b16", "?b16/v1:b16")
_COUNT = "number:1:/v1:number:1:"
_ORDERED = "[release.cta|release.cluster|relaxed.cta|relaxed.cluster]"
_ACQUIRED = "[acquire.cta|acquire.cluster|relaxed.cta|relaxed.cluster]"
_OVER = "[override::global_address]"
_MODES = (
    # mode, dimensions, operands behind the mbarrier
    ("[tile]", "1d|2d|3d|4d|5d", ""),
    ("im2col", "3d|4d|5d", ", vD-2"),
    ("im2col::w", "3d|4d|5d", ", v2"),
    ("im2col::w::128", "3d|4d|5d", ", v2"),
    ("tile::gather4", "2d", ""),
)
_STORES = (
    ("[tile]", "1d|2d|3d|4d|5d", ""),
    ("im2col_no_offs", "3d|4d|5d", ""),
    ("im2col_no_offs::w", "3d|4d|5d", "im2col_no_offs::w"),
    ("tile::scatter4", "2d", "scatter4, im2col::w::128"),
)
_DIMENSIONS = (
    ("1d", "override::global_address override::global_dim"),
    ("2d|3d|4d|5d", "override::global_address override::global_dim_stride"),
)
_Row = tuple[str, str, str, str]


def _bulk_forms() -> Iterator[_Row]:
    """Yield the forms of ``cp.async.bulk`` and ``cp.reduce.async.bulk`` without a tensor map."""
    name, loads = "cp.async.bulk", f"[], [], number*16, [], {_BRACED}"
    oob = "[], [], number*16, number:0:15, number:0:15, [], L2::cache_hint?b64"
    for order in ("[weak]", "b128"):
        yield name, f"{order} shared::cluster+global {_TX} {_MANY} {_HINT} {_REPORT}", loads, "bulk copies"
        yield name, f"{order} shared::cta+global {_TX} {_HINT} {_REPORT}", loads, "copies to shared::cta"
        yield name, f"{order} shared::cta+global {_TX} {_HINT} ignore_oob", oob, "ignore_oob"
        yield name, f"{order} shared::cluster+shared::cta {_TX}", "[], [], number*16, []", "bulk copies"
        yield (
            name, f"{order} global+shared::cta bulk_group {_HINT} [cp_mask]",
            "[], [], number*16, L2::cache_hint?b64, cp_mask?b16/v1:b16", "bulk copies",
        )  # fmt: skip
    relaxed = f"{_RELAXED} b128"
    wide, plain = "relaxed copies to a cluster", "weak, relaxed copies"
    yield name, f"{relaxed} shared::cluster+global {_TX} {_MANY} {_HINT} {_REPORT}", loads, wide
    yield name, f"{relaxed} shared::cta+global {_TX} {_HINT} {_REPORT}", loads, plain
    yield name, f"{relaxed} shared::cta+global {_TX} {_HINT} ignore_oob", oob, plain
    yield name, f"{_IN_CLUSTER} b128 shared::cluster+shared::cta {_TX}", "[], [], number*16, []", plain
    yield (
        name, f"{relaxed} global+shared::cta bulk_group {_HINT} [cp_mask]",
        "[], [], number*16, L2::cache_hint?b64, cp_mask?b16/v1:b16", plain,
    )  # fmt: skip
    prefetch = "[L2::cache_hint|L2::evict_last]"
    yield f"{name}.prefetch", f"L2 global {prefetch}", "[], number*16, L2::cache_hint?b64", "bulk copies"
    yield f"{name}.commit_group", "", "", "bulk copies"
    yield f"{name}.wait_group", "[read]", "#", "bulk copies"
    yield f"{name}.wait_group", "sync_restrict::proxy::async", "#", "wait_group of the async proxy"
    yield from _reduction_forms()
    yield "cp.async.commit_group", "", "", "copies of a thread"
    yield "cp.async.wait_group", "", "#", "copies of a thread"
    yield "cp.async.wait_all", "", "", "copies of a thread"
    yield "cp.async.mbarrier.arrive", f"[noinc] {_OWN} b64", "[]", "copies of a thread"


def _reduction_forms() -> Iterator[_Row]:
    name = "cp.reduce.async.bulk"
    to_global = (
        "add u32|s32|u64|f32|f64", "add noftz f16|bf16|f32", "min|max u32|s32|u64|s64|f16|bf16", "inc|dec u32",
        "and|or|xor b32|b64",
    )  # fmt: skip
    to_cluster = ("add u32|s32|u64", "min|max u32|s32", "inc|dec u32", "and|or|xor b32")
    for of in to_global:
        words = f"[{_RELAXED}] global+shared::cta bulk_group {_HINT} {of}"
        yield name, words, "[], [], number*16, L2::cache_hint?b64", "bulk copies"
    for of in to_cluster:
        words = f"[{_IN_CLUSTER}] shared::cluster+shared::cta {_TX} {of}"
        yield name, words, "[], [], number*16, []", "bulk copies"


def _tensor_forms() -> Iterator[_Row]:
    """Yield the forms of copies with a tensor map."""
    load = "cp.async.bulk.tensor"
    for space, many, near in (("shared::cluster+global", _MANY, "cluster"), ("shared::cta+global", "", "shared::cta")):
        base = "bulk copies" if many else "copies to shared::cta"
        of_mode = {
            "im2col::w": f"gather4, im2col::w to {'a ' * bool(many)}{near}",
            "tile::gather4": f"gather4, im2col::w to {'a ' * bool(many)}{near}",
            "im2col::w::128": "scatter4, im2col::w::128",
        }
        tail = f"{_TX} [cta_group::1|cta_group::2] {many} {_HINT} {_REPORT}"
        for mode, dims, offsets in _MODES:
            words = f"{dims} {space} {mode} {tail} {_OVER} {_SCOPE}"
            yield load, words, f"at, [D], at{offsets}, {_MASKS}", of_mode.get(mode, base)
        wide = f"{_TX} [cta_group::1|cta_group::2] {'[multicast::cluster::32b]' * bool(many)} {_HINT} {_REPORT}"
        for dims, over in _DIMENSIONS:
            yield load, f"{dims} {space} [tile] {wide} {over} {_SCOPE}", f"at, [O], at, {_MASKS}", "override"
    for name, operation in ((load, ""), ("cp.reduce.async.bulk.tensor", "add|min|max|inc|dec|and|or|xor")):
        words = f"global+shared::cta bulk_group {_HINT} {operation or _REPORT} {_SCOPE}"
        for mode, dims, feature in _STORES:
            yield name, f"{dims} {words} {mode} {_OVER}", "[D], at, L2::cache_hint?b64", feature or "bulk copies"
        for dims, over in _DIMENSIONS:
            yield name, f"{dims} {words} [tile] {over}", "[O], at, L2::cache_hint?b64", "override"
    prefetch = "cp.async.bulk.prefetch.tensor"
    for mode, dims, offsets in _MODES:
        feature = {"im2col::w::128": "scatter4, im2col::w::128", "im2col": "bulk copies", "[tile]": "bulk copies"}.get(
            mode, "prefetch of gather4, im2col::w"
        )
        words = f"L2 global {dims} {mode} [L2::cache_hint|L2::evict_last]"
        yield prefetch, f"{words} {_OVER}", f"[D]{offsets}, L2::cache_hint?b64", feature
    for dims, over in _DIMENSIONS:
        yield (
            prefetch,
            f"L2 global {dims} [tile] [L2::cache_hint|L2::evict_last] {over}",
            ("[O], L2::cache_hint?b64"),
            "override",
        )


def _mbarrier_forms() -> Iterator[_Row]:
    yield "mbarrier.init", f"{_OWN} b64", "[g], number:1:1048575", "mbarrier"
    yield "mbarrier.init", f"layout::v0|layout::v1 {_OWN} b64", "[g], number:1:1048575", "mbarrier layouts"
    yield "mbarrier.inval", f"{_OWN} b64", "[g]", "mbarrier"
    yield "mbarrier.check_layout", f"layout::v0|layout::v1 {_OWN} b64", "pred, [g]", "mbarrier phase types"
    yield "mbarrier.pending_count", "b64", "=b32, b64", "mbarrier"
    yield "mbarrier.pending_count", "layout::v0 b64", "=b32, b64", "mbarrier layouts"
    every = "[shared::cluster] multicast::cluster::32b b64"
    for name in ("mbarrier.expect_tx", "mbarrier.complete_tx"):
        yield name, f"[{_IN_CLUSTER}] {_ANY} b64", "[g], number", "mbarrier of a cluster"
        yield name, f"[{_IN_CLUSTER}] {every}", "[g], number, number", "multicast::cluster::32b"
    for name in ("mbarrier.arrive", "mbarrier.arrive_drop"):
        yield name, f"[release.cta] {_OWN} b64", "=b64/_, [g]", "mbarrier"
        yield name, f"{_ORDERED} {_OWN} b64", f"=b64/_, [g], ?{_COUNT}", "mbarrier of a cluster"
        yield name, f"{_ORDERED} shared::cluster b64", f"_, [g], ?{_COUNT}", "mbarrier of a cluster"
        yield name, f"{_ORDERED} {every}", "_, [g], number", "multicast::cluster::32b"
        yield name, f"{_ORDERED} {every}", f"_, [g], {_COUNT}, number", "multicast::cluster::32b"
        yield name, f"noComplete [release.cta] {_OWN} b64", f"=b64/_, [g], {_COUNT}", "mbarrier"
        yield f"{name}.expect_tx", f"{_ORDERED} {_OWN} b64", "=b64/_, [g], number", "mbarrier of a cluster"
        yield f"{name}.expect_tx", f"{_ORDERED} shared::cluster b64", "_, [g], number", "mbarrier of a cluster"
        yield f"{name}.expect_tx", f"{_ORDERED} {every}", "_, [g], number, number", "multicast::cluster::32b"
    yield "mbarrier.test_wait", f"[acquire.cta] {_OWN} b64", "pred, [g], b64", "mbarrier"
    yield "mbarrier.test_wait.parity", f"[acquire.cta] {_OWN} b64", "pred, [g], number:0:1", "mbarrier"
    for name, until in (("mbarrier.test_wait", ""), ("mbarrier.try_wait", ", ?number")):
        of = f"{_ACQUIRED} {_OWN} b64"
        yield name, of, f"pred, [g], b64{until}", "mbarrier of a cluster"
        yield f"{name}.parity", of, f"pred, [g], number:0:1{until}", "mbarrier of a cluster"
        for report in ("", "=b8, "):
            both = f"pred/pred|pred, {report}[g]"
            parity = "number" if report else "number:0:1"  # as the assembler has it
            yield name, f"phase_type::primary {of}", f"{both}, b64{until}", "mbarrier phase types"
            yield f"{name}.parity", f"phase_type::primary {of}", f"{both}, {parity}{until}", "mbarrier phase types"
        conditional = f"phase_type::conditional {of}"
        yield f"{name}.parity", conditional, f"pred, [g], number:0:1{until}", "mbarrier phase types"


_FENCES: tuple[_Row, ...] = (
    ("fence", "[sc|acq_rel] cta|gpu|sys", "", ""),
    ("fence", "[sc|acq_rel] cluster", "", "fences of sm_90"),
    ("fence", f"acquire|release {_SCOPES}", "", "one-way fences"),
    ("fence", "mbarrier_init release cluster", "", "fences of sm_90"),
    ("fence", "acquire sync_restrict::shared::cluster cluster", "", "one-way fences"),
    ("fence", "release sync_restrict::shared::cta cluster", "", "one-way fences"),
    ("fence", "alias release sync_restrict::read sys", "", "fence.alias"),
    ("fence.proxy", "alias", "", ""),
    ("fence.proxy", "async [global|shared::cta|shared::cluster]", "", "fences of sm_90"),
    ("fence.proxy", f"tensormap::generic release {_SCOPES}", "", "fences of tensor maps"),
    ("fence.proxy", f"tensormap::generic acquire {_SCOPES}", "[], #:128:128", "fences of tensor maps"),
    ("fence.proxy", f"tensormap::generic acq_rel {_SCOPES}", "[], #", "fences of tensor maps"),
    ("fence.proxy", "async::generic acquire sync_restrict::shared::cluster cluster", "", "one-way fences"),
    ("fence.proxy", "async::generic release|acq_rel sync_restrict::shared::cta cluster", "", "one-way fences"),
    (
        "fence.proxy",
        "async::generic release sync_restrict::shared::cluster::read cta|cluster",
        "",
        "fences of a reader",
    ),
    ("setmaxnreg.inc", "sync aligned u32", "#*8:24:256", "setmaxnreg"),
    ("setmaxnreg.dec", "sync aligned u32", "#*8:24:256", "setmaxnreg"),
)

_WORDS, _STORED = "b32|u32|s32|f32", "b32|u32|s32|f32|b64|u64|s64|f64"
_ADDED = ("add u32|s32|u64|s64", "min|max u32|s32", "inc|dec u32", "and|or|xor b32")
_STORE, _GLOBAL = f"[weak] [shared::cluster|shared::cta] {_TX}", "st.async to global"
_REMOTE: tuple[_Row, ...] = (
    ("st.async", f"{_STORE} {_STORED}|b128", "[], type/v1:type, []", "st.async, red.async"),
    ("st.async", f"{_STORE} {_STORED}|b128", "[], type", "st.async, red.async"),
    ("st.async", f"[weak] {_STORED}", "[], type", "st.async, red.async"),
    ("st.async", f"{_STORE} v2 {_STORED}", "[], v2:type, []", "st.async, red.async"),
    ("st.async", f"{_STORE} v4 {_WORDS}", "[], v4:type, []", "st.async, red.async"),
    ("st.async", f"weak|release.gpu|release.sys [global] {_STORED}", "[], type", _GLOBAL),
    ("st.async", f"mmio release.sys [global] {_STORED}", "[], type", _GLOBAL),
    *(
        row for of in _ADDED for row in (
            ("red.async", f"relaxed.cluster [shared::cluster] {_TX} {of}", "[], type, []", "st.async, red.async"),
            ("red.async", f"[mmio] release.sys [global] {of}", "[], type", _GLOBAL),
            ("red.async", f"release.gpu|relaxed.gpu|relaxed.sys [global] {of}", "[], type", _GLOBAL),
        )
    ),
)  # fmt: skip

_MAP = "tile b1024 [global|shared::cta]"
_MAPS: tuple[_Row, ...] = (
    ("tensormap.replace", f"{_MAP} global_address b64", "[], b64", "tensormap.replace"),
    ("tensormap.replace", f"{_MAP} rank b32", "[], number", "tensormap.replace"),
    ("tensormap.replace", f"{_MAP} box_dim|global_dim|element_stride b32", "[], #:0:4, number", "tensormap.replace"),
    ("tensormap.replace", f"{_MAP} global_stride b64", "[], #:0:4, b64", "tensormap.replace"),
    ("tensormap.replace", f"{_MAP} elemtype b32", "[], #:0:12", "tensormap.replace"),
    ("tensormap.replace", f"{_MAP} elemtype b32", "[], #:13:15", "padded element types"),
    ("tensormap.replace", f"{_MAP} interleave_layout b32", "[], #:0:2", "tensormap.replace"),
    ("tensormap.replace", f"{_MAP} swizzle_mode b32", "[], #:0:3", "tensormap.replace"),
    ("tensormap.replace", f"{_MAP} swizzle_mode b32", "[], #:4:4", "swizzle 96B"),
    ("tensormap.replace", f"{_MAP} swizzle_atomicity b32", "[], #:0:3", "swizzle_atomicity"),
    ("tensormap.replace", f"{_MAP} fill_mode b32", "[], #:0:1", "tensormap.replace"),
    ("tensormap.query.alloc_class_large", "b1024 [global|const|param]", "pred, [b64]", "tensormap.query"),
    (
        "tensormap.cp_fenceproxy", f"global+shared::cta tensormap::generic release {_SCOPES} sync aligned",
        "[], [], #:128:128", "fences of tensor maps",
    ),
)  # fmt: skip

_SHARED = "[shared|shared::cta]"
_MATRICES: tuple[_Row, ...] = (
    ("ldmatrix", f"sync aligned m8n8 x1|x2|x4 [trans] {_SHARED} b16", "vX, []", "ldmatrix"),
    ("ldmatrix", f"sync aligned m16n16 x1|x2 trans {_SHARED} b8", "v2X, []", "matrices of bytes"),
    (
        "ldmatrix", f"sync aligned m16n16 x1|x2 trans {_SHARED} b8x16+b6x16_p32|b8x16+b4x16_p64", "v2X, []",
        "matrices of bytes",
    ),
    (
        "ldmatrix", f"sync aligned m8n16 x1|x2|x4 {_SHARED} b8x16+b6x16_p32|b8x16+b4x16_p64", "vX, []",
        "matrices of bytes",
    ),
    ("ldmatrix", f"sync aligned m8n16 x1|x2|x4 {_SHARED} s8+s4", "vX, []", "ldmatrix s8.s4"),
    ("stmatrix", f"sync aligned m8n8 x1|x2|x4 [trans] {_SHARED} b16", "[], vX", "stmatrix"),
    ("stmatrix", f"sync aligned m16n8 x1|x2|x4 trans {_SHARED} b8", "[], vX", "matrices of bytes"),
)  # fmt: skip

#: The feature that a qualifier needs in any form, by the beginning of the instruction and of the qualifier.
_NEEDS: Mapping[tuple[str, str], str] = {
    ("", "multicast::cluster::16b"): "multicast::cluster::16b",
    ("", "multicast::cluster::32b"): "multicast::cluster::32b",
    ("mbarrier.arrive", "relaxed"): "relaxed mbarriers",
    ("mbarrier.test_wait", "relaxed"): "relaxed mbarriers",
    ("mbarrier.try_wait", "relaxed"): "relaxed mbarriers",
    ("cp.reduce.", "relaxed"): "weak, relaxed copies",
    ("tcgen05.commit", "sync_restrict::"): "sync_restrict::shared::read::mma::a",
    ("cp.", "weak"): "weak, relaxed copies",
    ("cp.", "cta_group::"): "cta_group of a copy",
    ("cp.", "cp_mask"): "cp_mask",
    ("cp.", "override::"): "override",
    ("cp.", "mbarrier::report::"): "mbarrier::report",
    ("cp.", "L2::evict_last"): "evict_last of a prefetch",
}
#: Qualifiers whose order matters.
_SPACES = ("global", "shared", "shared::cta", "shared::cluster", "const", "param", "local")
_FORMATS = ("b8x16", "b6x16_p32", "b4x16_p64", "s8", "s4")


class Slot(NamedTuple):
    """A choice between qualifiers.

    Args:
        choices: the alternatives, each one word, or an order with its scope.
        needed: whether one of them is required.
    """

    choices: tuple[tuple[str, ...], ...]
    needed: bool


class Form(NamedTuple):
    """One form of an instruction.

    Args:
        slots: its qualifiers.
        operands: its operands in the notation of this module.
        feature: the feature that the target must support; "" for none.
        last: the qualifier that must be the last; "" for none.
    """

    slots: tuple[Slot, ...]
    operands: tuple[str, ...]
    feature: str
    last: str = ""

    @property
    def words(self) -> frozenset[str]:
        """All qualifiers of the form."""
        return frozenset(word for slot in self.slots for choice in slot.choices for word in choice)


@lru_cache(maxsize=1)
def forms() -> Mapping[str, tuple[Form, ...]]:
    """Return all forms, by the name of their instruction.

    >>> len(forms()["fence.proxy"])
    8
    """
    forms_by_name: dict[str, list[Form]] = {}
    for rows in (_bulk_forms(), _tensor_forms(), _mbarrier_forms(), _FENCES, _MAPS, _MATRICES, _REMOTE, tensor_forms()):
        for name, words, operands, feature in rows:
            slots = tuple(_parse_slot(text) for text in words.split())
            last = next((text[:-1] for text in words.split() if text.endswith("$")), "")
            form = Form(
                slots, tuple(operand for text in operands.split(",") if (operand := text.strip())), feature, last
            )
            forms_by_name.setdefault(name, []).append(form)
    return {name: tuple(rows) for name, rows in forms_by_name.items()}


def _parse_slot(text: str) -> Slot:
    choices = tuple(tuple(choice.split(".")) for choice in text.strip("[]$").split("|"))
    return Slot(tuple(sorted(choices, key=len, reverse=True)), not text.startswith("["))


#: Beginnings of the opcodes whose forms are known.
SYNTAX = ("cp.async.", "cp.reduce.", "mbarrier.", "fence.", "tensormap.", "setmaxnreg.", "ldmatrix.",
          "stmatrix.", "st.async.", "red.async.")  # fmt: skip

ClassOf = Callable[[str], str | None]
#: The name of a rule, and the fact.
Violation = tuple[str, str]


def syntax_findings(instruction: Instruction, target: str, version: str, class_of: ClassOf) -> list[Violation]:
    """Return what an assembler would reject in an instruction that is not a multiplication: rule and fact.

    Args:
        instruction: the instruction.
        target: the ``.target``.
        version: the ``.version``.
        class_of: returns the class of a register, or None if the name is not declared.

    >>> from descriptors.check.ptx.ptx_operands import operands
    >>> arrive = Instruction(1, "mbarrier.arrive.release.shared.b64", operands("_, [%r1]"))
    >>> syntax_findings(arrive, "sm_90a", "9.5", lambda name: None)
    [('form-qualifier', 'mbarrier.arrive does not accept .release in this form')]
    """
    name, words = _split_name(instruction.qualifiers)
    if instruction.qualifiers[:3] in (("cp", "async", "ca"), ("cp", "async", "cg")):  # their forms are not checked
        return []
    if not name:
        return [("form-qualifier", f"{instruction.opcode} is not a known instruction")]
    joined = _join_ordered(words)
    best: tuple[tuple[int, int], list[Violation]] | None = None
    for form in forms()[name]:
        violations = list(_qualifier_differences(form, frozenset(joined), joined, name))
        if form.last in words[:-1]:
            violations.append(("form-qualifier", f".{form.last} is not the last qualifier"))
        if best is not None and len(violations) > best[0][0]:
            continue
        shared_words = joined if not violations else tuple(word for word in joined if word in form.words)
        unsupported = list(_unsupported_features(form, name, shared_words, target, version))
        operands = _operand_violations(form, instruction.operands, joined, class_of)
        weight = len(violations), len(operands) + len(unsupported)
        # The qualifiers of an instruction determine its operands, so these are checked only if the qualifiers match.
        violations += unsupported if violations else [*operands, *unsupported]
        if not violations:
            return []
        if best is None or weight < best[0]:
            best = weight, violations
    assert best is not None
    return best[1]


@lru_cache(maxsize=1 << 10)
def _split_name(qualifiers: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the longest name of a form with which an opcode begins, and the other words."""
    for length in range(len(qualifiers), 0, -1):
        if (name := ".".join(qualifiers[:length])) in forms():
            return name, qualifiers[length:]
    return "", qualifiers


def _join_ordered(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words with state spaces and formats of matrices each joined to one word."""
    ordered = ["+".join(word for word in words if word in group) for group in (_SPACES, _FORMATS)]
    rest = [word for word in words if word not in _SPACES and word not in _FORMATS]
    return (*rest, *filter(None, ordered))


def _qualifier_differences(
    form: Form, words: frozenset[str], joined: tuple[str, ...], name: str = "it"
) -> Iterator[Violation]:
    """Yield the differences between the qualifiers of an instruction and a form.

    A word in place of another is one mistake, so each surplus word is reported together with a missing one.
    """
    left, missing = set(words), list[Violation]()
    for slot in form.slots:
        chosen = next((choice for choice in slot.choices if set(choice) <= words), None)
        if chosen is not None:
            left.difference_update(chosen)
        elif slot.needed:
            choices = ", ".join("." + ".".join(choice) for choice in slot.choices)
            missing.append((_rule_of(slot, name), f"{'one of ' * (len(slot.choices) > 1)}{choices}"))
            left.difference_update(*(choice for choice in slot.choices if len(choice) > 1))  # the half of a choice
    scopes = left.intersection(_SCOPES.split("|")) if left.intersection(_ORDERS) else set()
    shown = [
        ".".join([f".{word}", *scopes] if word in _ORDERS else [f".{word.replace('+', '.')}"])
        for word in sorted(left - scopes)
    ]
    shown += [
        f".{word} {joined.count(word)} times"
        for word in sorted(words - left)
        if word != "sync" and joined.count(word) > 1
    ]
    if len(shown) == 1 and missing:
        missing = [(missing[0][0], " and ".join(lack for _, lack in missing))]
    for word, (rule, lack) in zip(shown, missing, strict=False):
        yield rule, f"this form of {name} has {lack}, not {word}"
    if surplus := shown[len(missing) :]:
        yield "form-qualifier", f"{name} does not accept {', '.join(surplus)} in this form"
    if absent := missing[len(shown) :]:
        yield absent[0][0], f"{name} lacks {' and '.join(lack for _, lack in absent)}"


#: Instructions with a shape and a type, which have rules of their own.
_MOVES = ("tcgen05.ld", "tcgen05.ld.red", "tcgen05.st")


def _rule_of(slot: Slot, name: str) -> str:
    """Return the rule that an instruction breaks if it lacks the qualifiers of a slot."""
    word = slot.choices[0][0]
    if name in _MOVES and re.match(r"\d*x\d", word):
        return "form-shape"
    return "form-types" if name in _MOVES and re.fullmatch(r"[bfsu]\d+", word) else "form-qualifier"


def _unsupported_features(
    form: Form, name: str, words: tuple[str, ...], target: str, version: str
) -> Iterator[Violation]:
    """Yield the rule and the fact if the target or the version does not support a form or its qualifiers."""
    needs = [form.feature] if form.feature else []
    for (beginning, start), feature in _NEEDS.items():
        if name.startswith(beginning) and any(word.startswith(start) for word in words):
            needs.append(feature)
    for feature in dict.fromkeys(needs):
        if lack := lacking(feature, target, version):
            yield ("form-target" if not has(feature, target) else "form-version"), lack
            return


def _operand_violations(
    form: Form, operands: tuple[Operand, ...], words: tuple[str, ...], class_of: ClassOf
) -> list[Violation]:
    expected: list[str] = []
    for text in form.operands:
        word, mark, rest = text.partition("?")
        if mark and word and word not in words:
            continue
        if mark and not word and len(operands) == len(expected):
            break
        expected.append(rest if mark else text)
    if len(operands) != len(expected):
        return [("form-operands", f"the instruction has {counted(len(operands), 'operand')}, not {len(expected)}")]
    violations: list[Violation] = []
    misplaced: list[str] = []
    for number, (operand, text) in enumerate(zip(operands, expected, strict=True), 1):
        mismatches = [_operand_violation(operand, choice, words, class_of) for choice in text.split("/")]
        if None not in mismatches and mismatches[0] is not None:
            rule, predicate = mismatches[0]
            if rule == "form-operands":  # one operand too many shifts all later ones
                misplaced.append(f"operand {number} {predicate}")
            else:
                violations.append((rule, f"operand {number} {predicate}"))
    return [("form-operands", "; ".join(misplaced)), *violations] if misplaced else violations


#: Classes of registers in which a value of each class of types may be stored.
_STORED_IN = {"b": "abfsux", "f": "bf", "s": "bsu", "u": "bsu"}


def _value_violation(operand: Operand, length: int, words: tuple[str, ...], class_of: ClassOf) -> Violation | None:
    """Return the violation of a value, or a vector of values, of the type among the qualifiers; None without one."""
    dtype = next((word for word in words if re.fullmatch(r"[bfsu]\d+", word)), "")
    if not dtype:
        return None
    if length == 1 and isinstance(operand, Vector):
        return "form-operands", f"is a vector, not one value of .{dtype}"
    items = operand.items if isinstance(operand, Vector) else (operand,)
    if len(items) != length:
        return "form-registers", f"has {counted(len(items), 'value')} of .{dtype}, not {length}"
    for item in items:
        if isinstance(item, int):
            continue
        if wrong := register_of(item, f"b{dtype[1:]}", class_of):
            return wrong[0], f"has an element that {wrong[1]}" if isinstance(operand, Vector) else wrong[1]
        class_ = class_of(item) if isinstance(item, str) else None
        if class_ is not None and class_ not in _WIDTHS and class_[0] not in _STORED_IN[dtype[0]]:
            return "form-class", f"has a value of .{dtype} in {item}, which is .{class_}"
    return None


_NUMBERS = re.compile(r"(number|#)(?:\*(\d+))?(?::(\d*):(\d*))?\Z")
_WIDTHS = {"pred": "pred", "f16x2": "b32", "bf16x2": "b32"}


def _width_of(class_: str) -> str:
    return _WIDTHS.get(class_) or "b" + class_.lstrip("abfsux")


def _operand_violation(operand: Operand, wanted: str, words: tuple[str, ...], class_of: ClassOf) -> Violation | None:
    """Return the rule that an operand breaks and a predicate such as "is not a vector"; None if it is right."""
    if wanted == "any":
        return None
    if wanted in ("[*]", "value"):
        if isinstance(operand, Address) == (wanted == "[*]"):
            return None
        return "form-operands", "is not an address in brackets" if wanted == "[*]" else "is an address in brackets"
    if wanted.startswith("["):
        return _address_violation(operand, wanted, words, class_of)
    if wanted == "at":  # the assembler does not require brackets there
        return None if isinstance(operand, str) else _address_violation(operand, "[]", words, class_of)
    if wanted.startswith("v1:"):
        return _operand_violation(alone(operand), wanted[3:], words, class_of)
    if wanted.endswith("type"):
        return _value_violation(operand, int(wanted[1]) if wanted != "type" else 1, words, class_of)
    if wanted == "_":
        return None if operand == "_" else ("form-operands", "is not the sink _")
    if wanted == "pred|pred":
        return None if isinstance(operand, Pair) else ("form-operands", "is not a pair of predicates")
    if wanted in ("vR", "vM", "vH"):
        return _vector_violation(operand, _move_registers(wanted, words), "", class_of)
    if wanted.startswith("v"):
        offsets = wanted in ("v2", "vD-2")
        return _vector_violation(operand, _vector_length(wanted, words), "b16" if offsets else "b32", class_of)
    if match := _NUMBERS.match(wanted):
        return _number_violation(operand, match, class_of)
    if isinstance(operand, int) and wanted != "pred" and not wanted.startswith("="):
        return None
    return register_of(operand, wanted.removeprefix("="), class_of)


def register_of(operand: Operand, wanted: str, class_of: ClassOf) -> Violation | None:
    """Return the rule and a predicate for an operand that is not a register of a width, as ``b32``; else None.

    >>> register_of("%h1", "b32", {"%h1": "u16"}.get)
    ('form-class', 'is %h1 in .u16, not in .b32')
    """
    if not isinstance(operand, str) or operand == "_":
        return "form-operands", f"is not a register of .{wanted}"
    class_ = class_of(operand)
    if class_ is not None and _width_of(class_) != wanted:
        return "form-class", f"is {operand} in .{class_}, not in .{wanted}"
    return None


def _number_violation(operand: Operand, match: re.Match[str], class_of: ClassOf) -> Violation | None:
    kind, multiple, low, high = match.groups()
    if isinstance(operand, int):
        if multiple and operand % int(multiple):
            return "form-immediate", f"is {operand}, which is not a multiple of {multiple}"
        if (low and operand < int(low)) or (high and operand > int(high)):
            wrong = f"not from {low} to {high}" if high else f"which is less than {low}"
            return "form-immediate", f"is {operand}, {f'not {low}' if low == high else wrong}"
        return None
    if kind == "#":
        return "form-immediate", "is not a number"
    return register_of(operand, "b32", class_of)


def _vector_length(wanted: str, words: tuple[str, ...]) -> int:
    count = next((int(word[1:]) for word in words if re.fullmatch(r"x\d", word)), 0)
    lengths = {"vX": count, "v2X": 2 * count, "vD-2": _dimension_count(words) - 2, "v2": 2}
    return lengths[wanted]


def _move_registers(wanted: str, words: tuple[str, ...]) -> int:
    """Return the number of registers of a load or store of tensor memory; 0 if there is no such instruction."""
    shape = next((word for word in words if word in MOST), "")
    number = next((int(word[1:]) for word in words if re.fullmatch(r"x\d{1,3}", word)), 0)
    if not shape or number.bit_count() != 1 or number > MOST[shape]:
        return 0
    if wanted == "vR":
        return tmem_move(f"{shape}.x{number}").registers
    return number // 2 if wanted == "vH" else -(-number // 32)


def _dimension_count(words: tuple[str, ...]) -> int:
    return next((int(word[0]) for word in words if re.fullmatch(r"[1-5]d", word)), 0)


def _vector_violation(operand: Operand, length: int, width: str, class_of: ClassOf) -> Violation | None:
    if not isinstance(operand, Vector):
        return "form-operands", "is not a vector of registers"
    if len(operand.items) != length:
        return "form-registers", f"has {counted(len(operand.items), 'register')}, not {length}"
    for item in operand.items if width else ():
        if not isinstance(item, int) and (wrong := register_of(item, width, class_of)):
            return wrong[0], f"has an element that {wrong[1]}"
    return None


def _address_violation(operand: Operand, wanted: str, words: tuple[str, ...], class_of: ClassOf) -> Violation | None:
    if not isinstance(operand, Address):
        return "form-operands", "is not an address in brackets"
    if not operand.base and "tensormap::generic" not in words:
        return "form-operands", "is a number in brackets, and an address begins with a register or a name"
    dimensions = _dimension_count(words)
    points = 5 if {"tile::gather4", "tile::scatter4"} & set(words) else dimensions
    generic = wanted == "[b64]" or (wanted == "[g]" and not any(word.startswith("shared") for word in words))
    if generic and class_of(operand.base) and (wrong := register_of(operand.base, "b64", class_of)):
        return wrong[0], f"is an address without a state space that {wrong[1]}"
    if wanted in ("[]", "[b64]", "[g]"):
        shapes: list[tuple[int, str]] = []
    else:
        overrides_address = "override::global_address" in words
        shapes = [(0, "b64")] * overrides_address + [(points, "b32")]
        if "override::global_dim" in words:
            shapes.insert(1, (1, "b16"))
        elif "override::global_dim_stride" in words:
            shapes[1:1] = [(dimensions, "b16"), (dimensions - 1, "b32"), (0, "b16")]
    if len(operand.rest) != len(shapes):
        return (
            "form-operands",
            f"has {counted(len(operand.rest), 'part')} after the base of its address, not {len(shapes)}",
        )
    for item, (length, width) in zip(operand.rest, shapes, strict=True):
        wrong = (
            _vector_violation(item, length, width, class_of)
            if length
            else _operand_violation(item, width, words, class_of)
        )
        if wrong:
            return wrong[0], f"is an address with a part that {wrong[1]}"
    return None
