"""The table of rooms: the whole architecture, lowest floor first.

A room is a folder of a package and answers one question, which its ``__init__`` says. A module may import what stands
before it: modules of the rooms above its own line in this table, and those to its left on its own line. A line without
modules is a single module, or the public face of a package.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from places import ROOT

ROOMS = {
    "layoutalg.errors": "",
    "layoutalg.tuples": "frozen terms deciding polynomial leaf basis types int_tuple coordinates",
    "layoutalg.strokes": "theme metrics runs shapes scene canvas figure",
    "layoutalg.faces": "svg tikz page terminal files picture",
    "layoutalg.drawing": "grid plate axes flow arrange order text html",
    "layoutalg.layouts": (
        "swizzle valid layout flat jumps boundaries number_composition plain_composition composed modes"
    ),
    "layoutalg.placed": "offsets offset_table cosize memory",
    "layoutalg.algebra": (
        "make rearrange slicing coalesce composition complement inverse divide products tiling recast symbols"
    ),
    "layoutalg.analysis": (
        "f2_matrix to_f2 from_f2 linear_layout triton banks warp_accesses bank_ranks swizzle_modes swizzle_search"
    ),
    "layoutalg.fragments": "rules fragment families catalogue names moves partitioner mma_atoms tiled_mma tiled_copy",
    "layoutalg.pictures": "values holders tables colours words plates arguments layout_picture",
    "layoutalg.notation": "tokens printed parser notation expression",
    "layoutalg.programs": "",
    "layoutalg.laws": "points fit forms recasts definitions plans products law",
    "layoutalg.oracle": "installed reader service algebra tree expressions known tensors fragments worker",
    "layoutalg.oracle.dsl": "algebra expressions tensors fragments",
    "layoutalg": "",
    "layoutalg.cli": "console options values analyses listing atoms check algebra analysis picture command",
    "layoutalg.__main__": "",
    "descriptors.frozen": "",
    "descriptors.errors": "",
    "descriptors.text": "",
    "descriptors.operands": "synonyms operand swizzled decayed atoms pasted explicit",
    "descriptors.matching": "steps forms canonical meaning partition match",
    "descriptors.words": "address bitfield tensor_map sm90 sm100 descriptor instruction transpose",
    "descriptors.proof": (
        "word_model walk_model read_model copy_model landing_model shift_model accumulator_model fragment_model "
        "scale_model addresses mismatch picture"
    ),
    "descriptors.theorem": "digits walk_model affine bits agreement",
    "descriptors.instructions": "rows tables rules checks operands instruction idesc selection uses",
    "descriptors.requests": "arguments request",
    "descriptors.derivation.parts": "table advance crossing places derivation",
    "descriptors.derivation": (
        "report compared verify symbolic_tile symbolic cut_tile one_by_one basis columns_for_all family proved derive"
    ),
    "descriptors.debug": "reading warnings decode expectation read fit candidates across diff",
    "descriptors.tma": "limits plan planner",
    "descriptors.tmem": ("evidence geometry fragment datapaths accumulator operand metadata scale_cells plan planner"),
    "descriptors.transfer": "moves reductions readout copies widening landing copied events findings guardrails",
    "descriptors.shift": "problem steps traffic running convolution",
    "descriptors.scales": "codes memory factors product kinds block_scaled",
    "descriptors.plans.parts": (
        "multicast asked halves operands fragments scales accumulators instruction tensor_map budget"
    ),
    "descriptors.plans": "memory product plan traffic order planner proposals",
    "descriptors.emitters": "recipe cuda header cutedsl ptx python emit",
    "descriptors.gemm.parts": "offsets held ptx_frame ptx_wgmma ptx_tcgen05 cutedsl codes",
    "descriptors.gemm": (
        "header cluster constants loads wgmma sm90 sm100_device sm100_readout sm100_host sm100_kernel emit"
    ),
    "descriptors.ptx": "operands statements module limits flow under known counters results fold varying",
    "descriptors.protocol": "broken events wgmma tcgen05 sequence",
    "descriptors.kernels.forms": "finding views wgmma_forms tcgen05_mma_forms tcgen05_forms",
    "descriptors.kernels": "acts order phases serialized words multiplications chains chosen inspect story",
    "descriptors.sweeps": "finding producer search lattice json_lines parquet_parts atlas_files atlas strict formulas",
    "descriptors.output.words": "pages fields decoded fetched candidates diff idesc instructions",
    "descriptors.output.tiles": (
        "explanation advance proof subtiles layout_steps derivation match closed_forms formulas"
    ),
    "descriptors.output.tmem": "fragment columns events moves reductions readout readouts copies widened",
    "descriptors.output.chains": "landing copied factors block_scaled shift_proof shifted",
    "descriptors.output": "plan staged main_loop proposals search summary report story contract_keys contract answers",
    "descriptors.pictures.parts": "anatomy tables panels tile_panels chunk_panels levels chunks tiles atoms",
    "descriptors.pictures.words": "advance_panel word_panel advance word difference",
    "descriptors.pictures.conflicts": "accesses bank_panel banks swizzle_panels swizzles",
    "descriptors.pictures": "boxes proofs shifted main_loops gallery kinds",
    "descriptors.stages": "view drawn pieces tile atom lines reads banks memory accumulators",
    "descriptors.browser": "reply template archive folder",
    "descriptors.explorer.parts": "question edited asked numbers inspector commands pasted told concerned walks kept",
    "descriptors.explorer": "presets controls answer page server site",
    "descriptors.oracle": "words emitted loops instructions tmem",
    "descriptors.oracle.dsl": "names words emitted loops instructions tmem",
    "descriptors.course": "claims article script",
    "descriptors.lessons.judges": "reading typed tile layouts accesses words advance protocol shift",
    "descriptors.lessons.judges.by_hand": "arithmetic threads swizzles",
    "descriptors.lessons.judges.claims": "places offsets instructions cells",
    "descriptors.lessons.judges.drawn": "unanswerable traces stages every",
    "descriptors.lessons": "source examples figures grading progress handed telling markup pages handout notebooks",
    "descriptors.lessons.teaching": "documents notes sheets slides card names teacher routes",
    "descriptors.papers.parts": "draw item texts",
    "descriptors.papers.algebra": "steps nested sizes compositions complements divides owners",
    "descriptors.papers.memory": "turns addresses tiles words clinic derivations accesses",
    "descriptors.papers": "pretest forms paper marks handed statistics telling records sheets",
    "descriptors.lessons.live": "cells answer site",
    "descriptors": "",
    "descriptors.cli.asking": "elsewhere values completion options tiles check",
    "descriptors.cli.operands": "derive emit match words debug tma draw",
    "descriptors.cli.tensor_cores": "instructions tmem_layouts tmem_data tmem_shift tmem",
    "descriptors.cli": "plan explore search formulas atlas kernels papers course command",
    "descriptors.__main__": "",
}

#: Every module, lowest first; a room's ``__init__`` stands at its end and may hand on what it holds.
FLOORS = [module for room, names in ROOMS.items() for module in (*(f"{room}.{n}" for n in names.split()), room)]


@cache
def modules() -> dict[str, str]:
    """The source of every module of the two packages, by its dotted name."""
    found = {}
    for package in ("layoutalg", "descriptors"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = path.read_text(encoding="utf-8")
    return found


def imports(module: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every import of a module, at its head or inside a function: what it imports, and the names taken from it."""
    for node in ast.walk(ast.parse(modules()[module])):
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute here"
            source = node.module or ""
            for alias in node.names:
                full = f"{source}.{alias.name}"
                yield (full, ()) if full in modules() else (source, (alias.name,))


def ours(name: str) -> bool:
    """Whether a dotted name is of one of the two packages."""
    return name.partition(".")[0] in ("layoutalg", "descriptors")


def room(module: str) -> str:
    """The room that a module stands in; a module that is a room of its own is that."""
    return module if module in ROOMS else module.rpartition(".")[0]
