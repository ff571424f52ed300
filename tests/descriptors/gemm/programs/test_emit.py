"""`emit_plan` and `descriptors plan --emit`: one door to every language, and its refusals."""

from __future__ import annotations

from typing import Any

import pytest
from refusals import refuses

from descriptors import ChoiceError, DescriptorError, plan
from descriptors.cli.command import main
from descriptors.gemm.programs.emit_plan import PLAN_LANGUAGES, emit_plan

HOPPER = "plan m64n128k16 bf16 --arch sm90 --tile 128x128x64 --stages 4 --b-major MN"


def test_the_command_writes_what_the_function_does(capsys: pytest.CaptureFixture[str]) -> None:
    loop_plan = plan("m64n128k16", "bf16", tile=(128, 128, 64), stages=4, b_major="MN")
    assert main([*HOPPER.split(), "--emit", "header", "--name", "loop"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == (emit_plan(loop_plan, "header", "loop"), "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--emit fortran", "supported: cuda, "),
        ("--name x", "--name needs --emit"),
        ("--emit header --name 2", "emit: name '2' is not an identifier"),
    ],
)
def test_bad_input_is_one_line_and_status_2(options: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*HOPPER.split(), *options.split()]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and refuses(captured.err, said)


def test_code_is_no_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*HOPPER.split(), "--emit", "header", "--json"]) == 2
    assert "--emit and --json cannot be combined" in capsys.readouterr().out


def test_proposals_have_no_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main("plan bf16 --tile 128x128x64 --arch sm90 --emit header".split()) == 2
    assert "--emit cannot be combined with a --tile without an INSTRUCTION" in capsys.readouterr().err


def test_an_unknown_language_is_refused() -> None:
    loop_plan = plan("m64n8k16", "bf16", tile=(64, 8, 32), stages=1, verify=False)
    with pytest.raises(
        ChoiceError, match=f"emit: language is 'rust', which is not supported; supported: {', '.join(PLAN_LANGUAGES)}"
    ):
        emit_plan(loop_plan, "rust")


@pytest.mark.parametrize("language", ["cuda", "ptx"])
def test_a_loop_whose_copies_are_shared_is_refused(language: str) -> None:
    arguments: dict[str, Any] = {"tile": (128, 64, 64), "stages": 2, "cluster": (2, 1), "verify": False}
    for shape, arch in (("m64n64k16", "sm90"), ("m128n64k16", "sm100")):
        loop_plan = plan(shape, "bf16", arch=arch, **arguments)
        if (language, arch) == ("cuda", "sm90"):
            assert "cluster_sync" in emit_plan(loop_plan, language)
            continue
        with pytest.raises(DescriptorError, match=r"^emit: .*cluster .*2x1"):
            emit_plan(loop_plan, language)
        assert "#define GEMM_B_WORD" in emit_plan(loop_plan, "header")
