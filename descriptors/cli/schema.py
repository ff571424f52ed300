"""The command ``descriptors schema``: what each command writes with ``--json``, as JSON Schema.

One table of types, in the notation of ``layoutalg.cli.schema``; what has a home elsewhere, the names of element types,
swizzles, fields of words, rules, is read off it.

Law: the keys of an answer are those of its type.

>>> from descriptors import decode, record
>>> set(record(decode(0, "sm90"))) ^ {name for name in TYPES["Decoded"] if not name.endswith("?")}
set()
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from descriptors.check.event_report import record_report as record_event_report
from descriptors.check.kernel_text import record_report, record_story
from descriptors.gemm.contract import record as record_contract
from descriptors.records import Record, Row, notation
from descriptors.show.pictures.round_picture import ROUNDS
from descriptors.show.pictures.tile_picture import COLOURS
from descriptors.smem.claims.solver import SOLVED
from descriptors.smem.debug.word_text import FIT, MISFIT, record_decoded, record_diff, record_fetched
from descriptors.smem.derivation.closed_forms import record_formulas as record_closed_forms
from descriptors.smem.derivation.derivation_text import DERIVATION, INTEGERS
from descriptors.smem.derivation.explanation import record_match
from descriptors.smem.derivation.subtile_words import SUBTILE
from descriptors.smem.instructions.idesc import INSTRUCTION_DESCRIPTORS, RUBIN_DESCRIPTORS
from descriptors.smem.instructions.instruction_text import record_architectures, record_idesc, record_selection
from descriptors.smem.operands.operand import ELEMENT_TYPES, LATER_TYPES, SwizzleMode
from descriptors.smem.tma.map_notation import MAP_ARGUMENTS
from descriptors.smem.tma.map_text import TENSOR_MAPS, record_box_check, record_map_changes, record_word_check
from descriptors.smem.tma.tma_text import BOXES
from descriptors.sweep.formulas import FORMULA, ROW_PROOF
from descriptors.sweep.survey_text import SURVEY
from descriptors.tmem.copy_text import record_block_scaled, record_copied, record_copies, record_factors, record_widened
from descriptors.tmem.fragment_text import record_columns, record_fragment
from descriptors.tmem.move_text import record_move, record_readout, record_readouts, record_reduction
from descriptors.tmem.shift_text import SHIFT, record_views
from layoutalg.cli.schema import ERROR, WRITTEN, Kind, Kinds, schema_command
from layoutalg.cli.schema import TYPES as PLAIN

_WORD, _HALF, _ARCH = "^0x[0-9a-f]{16}$", "^0x[0-9a-f]{8}$", "^sm[0-9]+$"
_MAJOR, _UNIT = {"K", "MN"}, {"bit", "byte"}
_SWIZZLE = {str(mode) for mode in SwizzleMode}
_DTYPE = {*ELEMENT_TYPES, *LATER_TYPES}
_PAIR, _TRIPLE = [int, int], [int, int, int]
_PLACED = [{"word": _WORD, "column": int}]
_KNOWN: dict[str, Kind] = {"evidence?": str}
_INSTRUCTIONS = [*INSTRUCTION_DESCRIPTORS.values(), *RUBIN_DESCRIPTORS.values()]


#: How an operand lies, as several answers say it.
_OPERAND: dict[str, Kind] = {"major": _MAJOR, "swizzle": _SWIZZLE}
_OFFSETS: dict[str, Kind] = {"leading_byte_offset": int, "stride_byte_offset": int}
#: A proof that steps of a convolution, or a product, are right.
_PROOF: dict[str, Kind] = {"ok": bool, "accumulators": int, "differing": int, "evidence": str}
_CONVOLUTION: dict[str, Kind] = {"activations": [int], "filters": [int], "output": [int]}

_ENCODE = (
    "tensorDataType tensorRank globalAddress globalDim globalStrides boxDim elementStrides interleave swizzle "
    "l2Promotion oobFill"
)
_MMA: dict[str, Kind] = {
    "arch": _ARCH, "tile": _TRIPLE, "warps": _PAIR, "stages": int, "blocks": _TRIPLE, "threads": int,
    "instruction": {"name": str, "kind": str, "ptx": str}, "operands": {"A": "MmaOperand", "B": "MmaOperand"},
    "accumulators": {"type": str, "registers": int, "layout": str}, "c": str,
    "scale_factors": (
        {
            "dtype": str, "vector": int, "words": int, "threads": [int], "a_rows": str, "b_rows": str,
            "places": [_PAIR],
        },
        None,
    ),
    "shared_memory": {
        "parts": {"A": int, "B": int}, "stage_bytes": int, "used": int, "capacity": int, "most_stages": int,
        "limit": str,
    },
    "order": ["Step"], "proof": ({"product": str, **_PROOF}, None),
}  # fmt: skip
_COLUMNS: dict[str, Kind] = {
    "columns": {str: _PAIR}, "allocate": int, "layout": str, "load": str, "registers": str,
}  # fmt: skip
#: Types of the answers, by the wing that they are of.
TYPES: Kinds = {
    **PLAIN,
    # smem
    "Oracle": {"agrees": bool, "status": str, "word": ("^0x[0-9a-f]+$", None), "ours": "^0x[0-9a-f]+$", "text": str},
    "EncodeArguments": dict.fromkeys(_ENCODE.split(), str),
    # tmem
    # check
    # gemm
    "PlanOperand": {
        "dtype": _DTYPE, "tile": [int], "mma": _PAIR, **_OPERAND, "layout": str, "base": int, "stage_bytes": int,
        "alignment_bytes": int, "word": _WORD, "steps": {"mn": [int], "k": [int], "stage": [int]}, "transposed": int,
        "transpose_bit": str, "tensor_map": ("EncodeArguments", MAP_ARGUMENTS),
        "boxes": [{"coordinates": [int], "offset_bytes": int}], "transaction_bytes": int, "run": int, "shared_by": int,
    },
    "Step": {"who": str, "what": str, "why": str},
    "Plan": {
        "arch": _ARCH, "kind": str, "tile": _TRIPLE, "stages": int, "cta_group": int, "cluster": _PAIR,
        "blocks": _TRIPLE,
        "instruction": {
            "name": str, "ptx": str, "registers": int, "idesc": [_HALF],
            "legal": ({"row": str, "source": str}, None),
        },
        "operands": {"A": "PlanOperand", "B": "PlanOperand"},
        "convolution?": {
            **_CONVOLUTION, "stride": _PAIR, "dilation": _PAIR, "padding": _PAIR, "operand": {"A", "B"},
            "tiles": [int], "steps": [{"tap": _PAIR, "pixels": [int], "offsets": _PAIR, "filters": _TRIPLE}],
            "evidence": str,
        },
        "registers_of_a": ({"layout": str, "move": str, "loads": int, "registers": int}, None),
        "scale_factors": (
            {
                "dtype": str, "vector": int, "bases": [int], "columns": [int], "bytes": _PAIR, "copies": _PLACED,
                "pointers": [[_HALF, _HALF]], "steps": INTEGERS,
            },
            None,
        ),
        "metadata?": {
            "layout": str, "group": int, "stored": int, "rows": int, "covered": int, "registers": int, "bytes": int,
            "base": int, "block_columns?": int, "copies": _PLACED,
            "k_blocks": [({"register": int, "selector": int}, {"column": int, "selector": int})],
        },
        "promotion?": {
            "dtype": str, "vector": int, "registers": int, "groups": int, "blocks": int, "a_loads": int,
            "b_loads": int,
        },
        "accumulators": ("Registers", "TensorColumns"),
        "register_budget": (
            {
                "threads": int, "launch": int, "pool": int, "used": int, "accumulators": int, "others": int,
                "roles": [{"name": str, "threads": int, "registers": int}],
            },
            None,
        ),
        "epilogue": {
            "c": str, "splits": int, "terms": [str],
            "staged": (
                {
                    "type": str, "rows": int, "columns": int, "writers": int, "base": int, "bytes": int,
                    "swizzle": _SWIZZLE, "layout": str,
                },
                None,
            ),
            "tensor_map": ("EncodeArguments", None),
        },
        "transaction_bytes": int,
        "shared_memory": {
            "parts": {"A": int, "B": int, "SFA?": int, "SFB?": int, "E?": int}, "stage_bytes": int, "barriers": int,
            "used": int, "capacity": int, "most_stages": int, "limit": str,
        },
        "traffic": {
            "operations": int, "copied_bytes": int, "read_bytes": int, "core_matrices": int, "wavefronts": int,
        },
        "order": ["Step"],
        "cuda_refusal": (str, None),
        "proof": (
            {
                "operands": {"A": str, "B": str}, "product": str, "chain": (str, None), "turns?": str,
                "gathered?": str, **_PROOF,
            },
            None,
        ),
    },
    "Registers": {"warpgroups": int, "each": int, "registers": int, "layout": str},
    "TensorColumns": (
        _COLUMNS,
        {
            **_COLUMNS, "sets": [[int]], "shared_columns": (_PAIR, None), "free_barriers": int,
            "reads": {"columns": [[int]], "before_it_is_free": int},
        },
    ),
    "MmaOperand": {
        "dtype": _DTYPE, "major": _MAJOR, "tile": _PAIR, "packed": int, "base": int, "stage_bytes": int,
        "swizzle": str, "layout": str, "move": str, "shift": int,
        "copies": (
            {"tile": _PAIR, "layout": str, "bytes": int},
            {"box": [int], "boxes": [{"origin": _PAIR, "offset_bytes": int}], "tensor_map": "EncodeArguments"},
        ),
        "loads": {"tile": _PAIR, "rows": (str, None), "fragments": str}, "conflicts": {"copies": int, "loads": int},
    },
    "MmaPlan": ({**_MMA, "wait_group": int}, {**_MMA, "transaction_bytes": int}),
    "Proposals": {
        "tile": _TRIPLE, "fitting": int,
        "plans": [
            {
                "instruction": str, "cta_group": int, "majors": {"A": _MAJOR, "B": _MAJOR},
                "swizzles": {"A": _SWIZZLE, "B": _SWIZZLE}, "stages": int, "most_stages": int, "used": int,
                "read_bytes": int, "command": str,
            }
        ],
        "refused": [{"instruction": str, "reason": str}], "others": int, **_KNOWN,
    },
    "TileProposals": {
        "problem": _TRIPLE, "tried": int, "evidence": {"compared", "fitted", "none"},
        "proposals": [
            {
                "tile": _TRIPLE, "cluster": _PAIR, "instruction": str, "splits": int, "stages": int, "tiles": int,
                "waves": int, "steps": float, "multiply": float, "shared": float, "copies": float,
                "microseconds": float, "teraflops": float, "bound": {"copies", "multiply", "shared"}, "command": str,
            }
        ],
    },
    "Chain": {
        "verdict": {"incomplete", "proved", "wrong"}, "headline": str,
        "legs": [
            {
                "name": {"", "A", "B", "D"}, "tile": _PAIR, "elements": int,
                "links": [
                    {
                        "name": str, "text": str, "verdict": {"begins", "incomplete", "moves", "proved", "wrong"},
                        "compared": int, "differing": int,
                        "first": (
                            {
                                "element": [int], "left": str, "right": str, "lies": str, "expected": str,
                                "other": str, "text": str,
                            },
                            None,
                        ),
                        "because": str,
                    }
                ],
            }
        ],
        "missing": [str], "evidence": str,
    },
    # sweep
}  # fmt: skip


def _beside(name: str, **more: Kind) -> Kind:
    """A type with further keys."""
    return {**TYPES[name], **more}


_GRID = [[int]]
#: What is drawn of a tile or a word, by its kind.
_PICTURES: Mapping[str, dict[str, Kind]] = {
    "levels": {
        "tile": _PAIR, "atom": _PAIR, "atoms": _GRID, "subtiles": _PAIR, "subtile": _PAIR, "mma": _PAIR,
        "chunk": _PAIR, "chunks": _GRID, **_OFFSETS, "dont_care": [str], "addresses": _GRID,
    },
    "chunks": {
        "subtile": _PAIR, "mma": _PAIR, "chunk": _PAIR, "chunks": _GRID, **_OFFSETS, "dont_care": [str],
        "addresses": _GRID,
    },
    "tile": {"colour": set(COLOURS), "addresses": _GRID, "kinds": _GRID},
    "atoms": {"atom": _PAIR, "places": _GRID, "order": _GRID, "pieces": _GRID},
    "advance": {
        "starts": _GRID, "fields": _GRID, "steps_along_mn": [int], "steps_along_k": [int], "stage_step": (int, None),
        "word": _WORD,
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
        "word": _WORD, "arch": _ARCH, "unknown_bits": _WORD,
        "fields": [
            {
                "name": str, "low": int, "bits": int, "stored": int, "value": (int, str), "meaning": str,
                "dont_care": bool,
            }
        ],
    },
    "boxes": {"tile": _PAIR, "box": [int], "boxes": [{"origin": _PAIR, "extents": _PAIR, "offset_bytes": int}]},
    "swizzle": {
        "mode": str, "swizzle": str, "changed_bits": [int], "selecting_bits": [int], "unit_bytes": int, "lines": _GRID,
        "xor": [int], "rows_before": [[str]], "rows": [[str]],
    },
    "diff": {
        "word": _WORD, "right_word": (_WORD, None), "differing": int, "stored": _GRID, "read": _GRID,
        "wrong": [[bool]],
    },
}  # fmt: skip

#: The answers of each command.
ANSWERS: Mapping[str, Sequence[Kind]] = {
    "derive": [DERIVATION, SUBTILE, record_closed_forms],
    "draw": [
        *({"kind": {kind}, **numbers, **_KNOWN} for kind, numbers in _PICTURES.items()),
        _beside("Plate", **_KNOWN), WRITTEN,
    ],
    "match": [Record("Match", **record_match.rows | {"stored": Row(str)})],
    "candidates": [{"candidates": [(FIT, MISFIT)]}],
    "decode": [record_decoded],
    "read": [record_fetched],
    "diff": [Record(**record_diff.rows, symbolic=Row(SOLVED, optional=True))],
    "shapes": [record_selection, record_architectures, {str: record_selection}],
    "idesc": [record_idesc],
    "decode-idesc": [record_idesc],
    "check": [
        record_report, {"files": [(record_report, {"file": str, **ERROR})]}, record_contract,
        {**WRITTEN, "findings": int, "undecided": int},
    ],
    "explain": [record_story, {"kernels": [ROUNDS]}],
    "tma": [BOXES],
    "tensor-map": [*TENSOR_MAPS, record_map_changes, record_box_check, record_word_check],
    "chain": ["Chain"],
    "plan": ["Plan", "MmaPlan", "Proposals", "TileProposals"],
    "tmem plan": [record_columns],
    "tmem accumulator": [record_fragment],
    "tmem operand": [record_fragment],
    "tmem metadata": [record_fragment],
    "tmem ld": [record_move, record_readout, record_readouts, record_reduction],
    "tmem cp": [record_copies, record_fragment, record_widened, record_copied],
    "tmem scale-factors": [record_factors],
    "tmem block-scaled": [record_block_scaled],
    "tmem shift": [SHIFT, record_views],
    "tmem check": [record_event_report],
    "search": [SURVEY],
    "formulas": [{"formulas": [FORMULA], "proof?": [ROW_PROOF]}],
}  # fmt: skip

#: The commands that the group registers.
_TYPES: dict[str, Kind] = {}
commands = [
    schema_command(
        "descriptors",
        {command: [notation(kind, _TYPES) for kind in kinds] for command, kinds in ANSWERS.items()},
        _TYPES | {name: notation(kind, _TYPES) for name, kind in TYPES.items()},
    )
]
