"""Tests mirror the rooms: each module has the file of its name, or a row here with the file that covers it, and why."""

from __future__ import annotations

import pytest
from places import ROOT
from rooms import ROOMS

COMMAND = "a command is tried from its program, as a person calls it"
ANSWER = "the answers are held beside one another, each as its command prints it"
LANGUAGE = "all languages have to give the same words of the same cases"
KERNEL_TEXT = "read back from whole texts, of every kind of plan"
KERNEL = "what is read of an instruction shows in whole kernels"
WORKER = "imported by the oracle's own process alone"
PARTS = "parts of pictures, read back from the pictures that they stand in"
TENSOR = "fragment columns events moves reductions readout readouts copies widened"
CHAINS = "landing copied factors block_scaled shift_proof shifted"
NUMBERS = "the picture shows every number of it"
OFFERED = "names are offered as they are checked"
TMEM = "tmem_layouts tmem_data tmem_shift"
SENTENCES = "sentences of a derivation"
JUDGED = "a law is tried by its sentences, and every answer of the suite goes through it"
PROVED = "whatever a plan is simulated from"
DRAWN = "every item of sixty papers is proved there"
PAPERS, JUDGES_DRAWN = "descriptors/papers/test_paper.py", "descriptors/lessons/judges/drawn/test_every.py"

#: The room, the file under ``tests`` that covers modules of it, why that one, and which modules.
SHARED = [
    ("layoutalg.tuples", "project/test_values.py", "the base of every value, tried on each of them", "frozen"),
    ("layoutalg.tuples", "layoutalg/algebra/test_symbols.py", "a leaf decides as its integers do, or not", "leaf"),
    ("layoutalg.tuples", "project/test_users_types.py", "types alone: the judge is a type checker", "types"),
    (
        "layoutalg.fragments",
        "layoutalg/fragments/test_names.py",
        "a name gives all",
        "fragment families catalogue",
    ),
    ("layoutalg.fragments", "layoutalg/fragments/test_tiled_mma.py", "an atom, repeated once", "mma_atoms"),
    ("layoutalg.pictures", "layoutalg/pictures/test_layout_picture.py", "checked where they are given", "arguments"),
    ("layoutalg.strokes", "layoutalg/strokes/test_canvas.py", "what a canvas gives", "scene"),
    ("layoutalg.faces", "layoutalg/strokes/test_theme.py", "colours of a terminal are colours", "terminal"),
    ("layoutalg.layouts", "layoutalg/layouts/test_layout.py", "what a layout refuses", "valid"),
    ("layoutalg.notation", "layoutalg/notation/test_notation.py", "what is read, refused and written again", "parser"),
    ("layoutalg.laws", "project/test_judge.py", JUDGED, "points fit forms recasts definitions plans products"),
    ("layoutalg.cli", "layoutalg/cli/test_command.py", COMMAND, "options values analyses listing algebra analysis"),
    ("layoutalg.cli", "layoutalg/fragments/test_names.py", COMMAND, "atoms"),
    ("descriptors.words", "descriptors/proof/test_read_model.py", "sizes on which judge and judged agree", "address"),
    ("descriptors.proof", "descriptors/proof/test_read_model.py", "a word is read where it is walked", "word_model"),
    ("descriptors.instructions", "descriptors/instructions/test_idesc.py", "what idesc fills in", "instruction"),
    ("descriptors.theorem", "descriptors/theorem/test_agreement.py", "the form that the theorem is about", "affine"),
    ("descriptors.requests", "descriptors/derivation/test_derive.py", "refusals as derive tells them", "arguments"),
    ("descriptors.derivation.parts", "descriptors/derivation/parts/test_derivation.py", "such tables", "table places"),
    ("descriptors.derivation", "descriptors/derivation/test_verify.py", "what a comparison comes to", "report"),
    ("descriptors.debug", "descriptors/debug/test_warnings.py", "what is known of a word shows in warnings", "reading"),
    ("descriptors.tma", "descriptors/tma/test_planner.py", "numbers that every plan must keep", "limits"),
    ("descriptors.tmem", "descriptors/tmem/test_geometry.py", "grades of what is known", "evidence"),
    (
        "descriptors.tmem",
        "descriptors/tmem/test_accumulator.py",
        "what accumulators are made with",
        "fragment datapaths",
    ),
    ("descriptors.transfer", "descriptors/transfer/test_guardrails.py", "each rule is broken there", "findings"),
    ("descriptors.scales", "descriptors/scales/test_block_scaled.py", "kinds as they are multiplied", "kinds"),
    ("descriptors.output.tmem", "descriptors/output/test_answers.py", ANSWER, TENSOR),
    ("descriptors.output.chains", "descriptors/output/test_answers.py", ANSWER, CHAINS),
    ("descriptors.plans", "descriptors/plans/test_product.py", PROVED, "memory plan"),
    ("descriptors.plans.parts", "descriptors/plans/test_product.py", PROVED, "operands"),
    ("descriptors.plans.parts", "descriptors/plans/test_planner.py", PROVED, "scales accumulators tensor_map"),
    ("descriptors.gemm.parts", "descriptors/gemm/test_ptx.py", KERNEL_TEXT, "ptx_frame ptx_wgmma ptx_tcgen05"),
    ("descriptors.gemm.parts", "descriptors/gemm/test_sm100_kernel.py", KERNEL_TEXT, "codes"),
    ("descriptors.gemm", "descriptors/gemm/test_sm100_kernel.py", KERNEL_TEXT, "sm100_device sm100_readout"),
    ("descriptors.gemm", "descriptors/gemm/test_sm100_kernel.py", KERNEL_TEXT, "sm100_host"),
    ("descriptors.gemm", "descriptors/gemm/test_sm90.py", "a program is read back whole", "loads wgmma"),
    ("descriptors.emitters", "descriptors/emitters/test_emit.py", LANGUAGE, "recipe cutedsl python"),
    ("descriptors.instructions", "descriptors/kernels/test_inspect.py", "a word where it is used, in kernels", "uses"),
    ("descriptors.ptx", "descriptors/ptx/test_fold.py", "instructions as they are folded", "results"),
    ("descriptors.kernels.forms", "descriptors/kernels/test_inspect.py", KERNEL, "finding views"),
    ("descriptors.kernels", "descriptors/kernels/test_inspect.py", KERNEL, "acts multiplications chains"),
    (
        "descriptors.kernels.forms",
        "descriptors/kernels/forms/test_tcgen05_forms.py",
        "forms on record",
        "tcgen05_mma_forms",
    ),
    ("descriptors.lessons", "descriptors/cli/test_course.py", COMMAND, "telling"),
    ("descriptors.lessons", "descriptors/lessons/test_source.py", "draws every figure", "figures"),
    ("descriptors.lessons.judges", "descriptors/lessons/test_grading.py", "reads every answer", "reading"),
    (
        "descriptors.lessons.judges",
        "descriptors/lessons/judges/test_words.py",
        "each judge of a word asks for it",
        "tile",
    ),
    ("descriptors.lessons.judges.drawn", JUDGES_DRAWN, DRAWN, "unanswerable traces stages"),
    ("descriptors.papers.parts", PAPERS, DRAWN, "texts"),
    ("descriptors.papers.algebra", PAPERS, DRAWN, "steps nested sizes compositions complements divides owners"),
    ("descriptors.papers.memory", PAPERS, DRAWN, "turns addresses tiles words clinic derivations accesses"),
    ("descriptors.papers", PAPERS, DRAWN, "pretest forms"),
    ("descriptors.papers", "descriptors/papers/test_handed.py", "marks are those of what is handed in", "marks"),
    ("descriptors.papers", "descriptors/papers/test_statistics.py", "told as it is counted", "telling records"),
    ("descriptors.output", "descriptors/cli/test_kernels.py", COMMAND, "report story"),
    (
        "descriptors.protocol",
        "descriptors/protocol/test_sequence.py",
        "rules and events, as sequences",
        "broken events",
    ),
    ("descriptors.output.tiles", "descriptors/output/tiles/test_derivation.py", SENTENCES, "explanation layout_steps"),
    (
        "descriptors.output.words",
        "descriptors/cli/tensor_cores/test_instructions.py",
        "tables as printed",
        "instructions",
    ),
    ("descriptors.output.words", "descriptors/output/test_answers.py", ANSWER, "fields fetched candidates diff idesc"),
    ("descriptors.output.tiles", "descriptors/output/test_answers.py", ANSWER, "advance proof match"),
    (
        "descriptors.output",
        "descriptors/output/test_contract.py",
        "a key of a file, where the file is read",
        "contract_keys",
    ),
    ("descriptors.output", "descriptors/output/test_answers.py", ANSWER, "summary staged main_loop proposals"),
    ("descriptors.pictures.parts", "descriptors/pictures/test_kinds.py", PARTS, "tables panels tile_panels"),
    ("descriptors.pictures.parts", "descriptors/pictures/test_kinds.py", PARTS, "chunk_panels"),
    ("descriptors.pictures.conflicts", "descriptors/pictures/test_kinds.py", PARTS, "swizzle_panels bank_panel"),
    ("descriptors.pictures.conflicts", "descriptors/pictures/conflicts/test_banks.py", NUMBERS, "accesses"),
    ("descriptors.pictures.words", "descriptors/pictures/words/test_advance.py", PARTS, "advance_panel"),
    ("descriptors.pictures.words", "descriptors/pictures/words/test_word.py", PARTS, "word_panel"),
    ("descriptors.stages", "descriptors/stages/test_tile.py", PARTS, "view drawn pieces"),
    ("descriptors.stages", "descriptors/stages/test_banks.py", PARTS, "lines reads"),
    (
        "descriptors.explorer",
        "descriptors/explorer/test_answer.py",
        "what every answer is made of",
        "presets",
    ),
    (
        "descriptors.explorer.parts",
        "descriptors/explorer/test_answer.py",
        "what every answer is made of",
        "asked told",
    ),
    (
        "descriptors.explorer.parts",
        "descriptors/explorer/parts/test_kept.py",
        "what is kept are these numbers, held against the inspector's sentences",
        "numbers",
    ),
    ("descriptors.cli", "descriptors/explorer/test_server.py", COMMAND, "explore"),
    ("layoutalg.oracle.dsl", "layoutalg/oracle/test_algebra.py", WORKER, "algebra"),
    ("layoutalg.oracle.dsl", "layoutalg/oracle/test_expressions.py", WORKER, "expressions"),
    ("layoutalg.oracle.dsl", "layoutalg/oracle/test_tensors.py", WORKER, "tensors"),
    ("layoutalg.oracle.dsl", "layoutalg/oracle/test_fragments.py", WORKER, "fragments"),
    ("descriptors.oracle", "descriptors/gemm/parts/test_cutedsl.py", "what was emitted, compiled by the DSL", "loops"),
    ("descriptors.oracle.dsl", "descriptors/gemm/parts/test_cutedsl.py", WORKER, "loops"),
    ("descriptors.oracle", "descriptors/emitters/test_emit.py", "what was emitted, run by the DSL", "emitted"),
    ("descriptors.oracle", "descriptors/instructions/test_idesc.py", "the DSL as judge of our words", "instructions"),
    ("descriptors.oracle.dsl", "descriptors/oracle/test_words.py", WORKER, "names words"),
    ("descriptors.oracle.dsl", "descriptors/oracle/test_tmem.py", WORKER, "tmem"),
    ("descriptors.oracle.dsl", "descriptors/emitters/test_emit.py", WORKER, "emitted"),
    ("descriptors.oracle.dsl", "descriptors/instructions/test_idesc.py", WORKER, "instructions"),
    ("descriptors.cli.asking", "descriptors/cli/test_completion.py", OFFERED, "options completion"),
    ("descriptors.cli", "descriptors/cli/test_completion.py", OFFERED, "command"),
    ("descriptors.cli.asking", "descriptors/cli/operands/test_debug.py", COMMAND, "values tiles"),
    ("descriptors.cli.operands", "descriptors/cli/operands/test_derive.py", COMMAND, "match"),
    ("descriptors.cli.operands", "descriptors/cli/operands/test_debug.py", COMMAND, "words"),
    ("descriptors.cli.tensor_cores", "descriptors/cli/tensor_cores/test_tmem.py", COMMAND, TMEM),
    (
        "descriptors.debug",
        "descriptors/cli/operands/test_debug.py",
        "a word is compared as it is asked about",
        "expectation",
    ),
]
COVERED = {f"{room}.{name}": file for room, file, _, names in SHARED for name in names.split()}
MODULES = [(room, name) for room, names in ROOMS.items() for name in names.split()]


@pytest.mark.parametrize(("room", "name"), MODULES)
def test_a_module_has_the_file_of_its_name_or_else_a_row(room: str, name: str) -> None:
    own = ROOT / "tests" / room.replace(".", "/") / f"test_{name}.py"
    assert own.exists() != (f"{room}.{name}" in COVERED), "a file of its name, or a row in SHARED: one of the two"


@pytest.mark.parametrize("module", COVERED)
def test_a_row_names_a_module_and_a_file_of_tests(module: str) -> None:
    room, _, name = module.rpartition(".")
    assert (room, name) in MODULES
    assert "def test_" in (ROOT / "tests" / COVERED[module]).read_text(encoding="utf-8")


def test_no_module_has_two_rows() -> None:
    assert len(COVERED) == sum(len(names.split()) for *_, names in SHARED)
