"""The command ``descriptors schema``: print the JSON Schema of the ``--json`` output of each command.

``ANSWERS`` lists the declarations of the answers of each command, and the pictures, whose types are written here in the
notation of ``layoutalg.cli.schema``.

Invariant: a schema has the keys of the answer, in the same order.

>>> from descriptors import decode, record
>>> (name,) = _Answers(_TYPES)["decode"]
>>> [name for name in _TYPES[name] if not name.endswith("?")] == list(record(decode(0, "sm90")))
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from descriptors.records import ARCH, PAIR, WORD, notation
from descriptors.show.pictures.tile_picture import COLOURS
from layoutalg.cli.schema import ERROR, WRITTEN, Kind, schema_command
from layoutalg.cli.schema import TYPES as PLAIN

_OFFSETS = {"leading_byte_offset": int, "stride_byte_offset": int}
_KNOWN = {"evidence?": str}
#: The comparison with the CuTe DSL.
_ORACLE = {"agrees": bool, "status": str, "word": ("^0x[0-9a-f]+$", None), "ours": "^0x[0-9a-f]+$", "text": str}
_GRID = [[int]]
#: What is drawn of a tile or a word, by its kind.
_PICTURES: Mapping[str, dict[str, Kind]] = {
    "levels": {
        "tile": PAIR, "atom": PAIR, "atoms": _GRID, "subtiles": PAIR, "subtile": PAIR, "mma": PAIR,
        "chunk": PAIR, "chunks": _GRID, **_OFFSETS, "dont_care": [str], "addresses": _GRID,
    },
    "chunks": {
        "subtile": PAIR, "mma": PAIR, "chunk": PAIR, "chunks": _GRID, **_OFFSETS, "dont_care": [str],
        "addresses": _GRID,
    },
    "tile": {"colour": set(COLOURS), "addresses": _GRID, "kinds": _GRID},
    "atoms": {"atom": PAIR, "places": _GRID, "order": _GRID, "pieces": _GRID},
    "advance": {
        "starts": _GRID, "fields": _GRID, "steps_along_mn": [int], "steps_along_k": [int], "stage_step": (int, None),
        "word": WORD,
    },
    "banks": {
        "views": [
            {
                "swizzled": bool, "addresses": [int], "access_bytes": int, "wavefronts": int, "words": [int],
                "lines": [int], "units": [[(int, None)]],
            }
        ]
    },
    "word": {
        "word": WORD, "arch": ARCH, "unknown_bits": WORD,
        "fields": [
            {
                "name": str, "low": int, "bits": int, "stored": int, "value": (int, str), "meaning": str,
                "dont_care": bool,
            }
        ],
    },
    "boxes": {"tile": PAIR, "box": [int], "boxes": [{"origin": PAIR, "extents": PAIR, "offset_bytes": int}]},
    "swizzle": {
        "mode": str, "swizzle": str, "changed_bits": [int], "selecting_bits": [int], "unit_bytes": int, "lines": _GRID,
        "xor": [int], "rows_before": [[str]], "rows": [[str]],
    },
    "diff": {
        "word": WORD, "right_word": (WORD, None), "differing": int, "stored": _GRID, "read": _GRID,
        "wrong": [[bool]],
    },
}  # fmt: skip


def _of(module: str, names: str) -> list[str]:
    """Return the declarations of a module as MODULE:NAME."""
    return [f"{module}:{name}" for name in names.split()]


_KERNEL, _INSTRUCTIONS = "check.kernel_text:record_report", "smem.instructions.instruction_text:record_selection"
#: The answers of each command: their types, where MODULE:NAME is a declaration within this package.
ANSWERS: Mapping[str, Sequence[Kind]] = {
    "derive": [
        "smem.derivation.derivation_text:DERIVATION",
        "smem.derivation.subtile_words:SUBTILE",
        "smem.derivation.closed_forms:record_formulas",
    ],
    "draw": [
        *({"kind": {kind}, **numbers, **_KNOWN} for kind, numbers in _PICTURES.items()),
        {**PLAIN["Plate"], **_KNOWN},
        WRITTEN,
    ],
    "match": ["smem.derivation.explanation:MATCH"],
    "candidates": ["smem.debug.word_text:CANDIDATES"],
    "decode": ["smem.debug.word_text:record_decoded"],
    "read": ["smem.debug.word_text:record_fetched"],
    "diff": ["smem.claims.solver:DIFF"],
    "shapes": [
        _INSTRUCTIONS,
        "smem.instructions.instruction_text:record_architectures",
        {str: _INSTRUCTIONS},
    ],
    "idesc": ["smem.instructions.instruction_text:record_idesc"],
    "decode-idesc": ["smem.instructions.instruction_text:record_idesc"],
    "check": [
        _KERNEL,
        {"files": [(_KERNEL, {"file": str, **ERROR})]},
        "gemm.contract:record",
        {**WRITTEN, "findings": int, "undecided": int},
    ],
    "explain": ["check.kernel_text:record_story", {"kernels": ["show.pictures.round_picture:ROUNDS"]}],
    "tma": ["smem.tma.tma_text:BOXES"],
    "tensor-map": _of("smem.tma.map_text", "TILED IM2COL record_map_changes record_box_check record_word_check"),
    "chain": ["gemm.chain_text:record"],
    "plan": [
        "gemm.plan_text:record_plan",
        "gemm.mma_text:record_mma",
        *_of("gemm.proposal_text", "record_proposals record_tile_proposals"),
    ],
    "tmem plan": ["tmem.fragment_text:record_columns"],
    "tmem accumulator": ["tmem.fragment_text:record_fragment"],
    "tmem operand": ["tmem.fragment_text:record_fragment"],
    "tmem metadata": ["tmem.fragment_text:record_fragment"],
    "tmem ld": _of("tmem.move_text", "record_move record_readout record_readouts record_reduction"),
    "tmem cp": _of("tmem.copy_text", "record_copies record_fragment record_widened record_copied"),
    "tmem scale-factors": ["tmem.copy_text:record_factors"],
    "tmem block-scaled": ["tmem.copy_text:record_block_scaled"],
    "tmem shift": _of("tmem.shift_text", "SHIFT record_views"),
    "tmem check": ["check.event_report:record_report"],
    "search": ["sweep.survey_text:SURVEY"],
    "formulas": [{"formulas": ["sweep.formulas:FORMULA"], "proof?": ["sweep.formulas:ROW_PROOF"]}],
}


def _resolved(kind: Kind) -> Kind:
    """Return a type with its declarations, which are imported when they are needed."""
    if isinstance(kind, str) and ":" in kind:
        module, _, name = kind.partition(":")
        return getattr(import_module(f"descriptors.{module}"), name)
    if isinstance(kind, dict):
        return {key: _resolved(item) for key, item in kind.items()}
    return type(kind)(map(_resolved, kind)) if isinstance(kind, (list, tuple)) else kind


class _Answers(Mapping[str, Sequence[Kind]]):
    """The types of the answers of each command, which import their declarations when they are asked for."""

    def __init__(self, types: dict[str, Kind]) -> None:
        self.types = types

    def __getitem__(self, command: str) -> Sequence[Kind]:
        return [notation(_resolved(kind), self.types) for kind in ANSWERS[command]]

    def __iter__(self) -> Iterator[str]:
        return iter(ANSWERS)

    def __len__(self) -> int:
        return len(ANSWERS)


_TYPES: dict[str, Kind] = {**PLAIN, "Oracle": _ORACLE}
#: The commands that the group registers.
commands = [schema_command("descriptors", _Answers(_TYPES), _TYPES)]
