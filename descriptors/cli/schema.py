"""The command ``descriptors schema``: what each command writes with ``--json``, as JSON Schema.

``ANSWERS`` lists the declarations of the answers of each command, and the pictures, whose types are written here in the
notation of ``layoutalg.cli.schema``.

Law: a schema has the keys of the answer, in their order.

>>> from descriptors import decode, record
>>> answers, types = _declared()
>>> [name for name in types["Decoded"] if not name.endswith("?")] == list(record(decode(0, "sm90")))
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from descriptors.check.event_report import record_report as record_event_report
from descriptors.check.kernel_text import record_report, record_story
from descriptors.gemm.chain_text import record as record_chain
from descriptors.gemm.contract import record as record_contract
from descriptors.gemm.mma_text import record_mma
from descriptors.gemm.plan_text import record_plan
from descriptors.gemm.proposal_text import record_proposals, record_tile_proposals
from descriptors.records import ARCH, PAIR, WORD, Record, Row, notation
from descriptors.show.pictures.round_picture import ROUNDS
from descriptors.show.pictures.tile_picture import COLOURS
from descriptors.smem.claims.solver import SOLVED
from descriptors.smem.debug.word_text import FIT, MISFIT, record_decoded, record_diff, record_fetched
from descriptors.smem.derivation.closed_forms import record_formulas as record_closed_forms
from descriptors.smem.derivation.derivation_text import DERIVATION
from descriptors.smem.derivation.explanation import record_match
from descriptors.smem.derivation.subtile_words import SUBTILE
from descriptors.smem.instructions.instruction_text import record_architectures, record_idesc, record_selection
from descriptors.smem.tma.map_text import TENSOR_MAPS, record_box_check, record_map_changes, record_word_check
from descriptors.smem.tma.tma_text import BOXES
from descriptors.sweep.formulas import FORMULA, ROW_PROOF
from descriptors.sweep.survey_text import SURVEY
from descriptors.tmem.copy_text import record_block_scaled, record_copied, record_copies, record_factors, record_widened
from descriptors.tmem.fragment_text import record_columns, record_fragment
from descriptors.tmem.move_text import record_move, record_readout, record_readouts, record_reduction
from descriptors.tmem.shift_text import SHIFT, record_views
from layoutalg.cli.schema import ERROR, WRITTEN, Kind, schema_command
from layoutalg.cli.schema import TYPES as PLAIN

_OFFSETS = {"leading_byte_offset": int, "stride_byte_offset": int}
_KNOWN = {"evidence?": str}
#: What the CuTe DSL says of a word.
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

#: The answers of each command.
ANSWERS: Mapping[str, Sequence[Kind]] = {
    "derive": [DERIVATION, SUBTILE, record_closed_forms],
    "draw": [
        *({"kind": {kind}, **numbers, **_KNOWN} for kind, numbers in _PICTURES.items()),
        {**PLAIN["Plate"], **_KNOWN}, WRITTEN,
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
    "chain": [record_chain],
    "plan": [record_plan, record_mma, record_proposals, record_tile_proposals],
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


def _declared() -> tuple[dict[str, list[Kind]], dict[str, Kind]]:
    """Return the types of the answers of each command, and the named types."""
    types: dict[str, Kind] = {**PLAIN, "Oracle": _ORACLE}
    return {command: [notation(kind, types) for kind in kinds] for command, kinds in ANSWERS.items()}, types


#: The commands that the group registers.
commands = [schema_command("descriptors", *_declared())]
