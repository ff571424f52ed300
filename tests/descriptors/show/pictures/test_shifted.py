"""The taps of a convolution over lanes: every cell is what the definition multiplies with, in every face."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from collisions import outside, overlapping
from drawn import read
from refusals import refusal

from descriptors import DescriptorError, picture, shift_convolution
from descriptors.cli.command import main
from descriptors.show.pictures.shift_picture import ShiftPicture

CASES: list[dict[str, Any]] = [
    {"images": 2, "width": 9},
    {"images": 16, "width": 9, "start": "middle"},
    {"images": 3, "width": 100, "taps": (3, 7), "padding": (1, 3), "cta_group": 2, "filters": 32},
    {"images": 30, "width": 5, "padding": (0, 0)},
]


def convolution(**changed: Any) -> Any:
    arguments = {"height": 4, "channels": 16, "filters": 16, "taps": (3, 3), "padding": (1, 1), **changed}
    return shift_convolution(**arguments)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("row", [0, 1])
def test_a_cell_is_what_its_output_multiplies_with_or_masked(case: dict[str, Any], row: int) -> None:
    one = convolution(**case)
    problem, data = one.problem, ShiftPicture(one, row).record()
    h = problem.input_row(row, data["filter_row"])
    assert h is not None and data["taps"]
    for number, tap in enumerate(data["taps"]):
        assert tap["new"] == ([] if number == 0 else [lane for lane in range(128 * one.cta_group) if lane % 32 == 31])
        for lane, cell in enumerate(tap["held"]):
            n, q = divmod(lane, problem.width)
            output = n < problem.images and q < problem.columns
            assert data["outputs"][lane] == output
            w = q + tap["s"] - problem.padding[1]
            inside = 0 <= w < problem.width
            assert (lane in tap["masked"]) == (output and not inside)
            assert cell == [n, w] or not (output and inside)


@pytest.mark.parametrize("case", CASES)
def test_nothing_leaves_the_picture_or_touches_another_text(case: dict[str, Any]) -> None:
    one = picture(convolution(**case))
    scene = one.scene()
    assert not outside(scene) and not overlapping(scene)
    assert all(len(line) <= 100 for line in one.text(width=100).splitlines())


def test_the_drawing_shows_every_number_and_frames_masked_and_new_lanes() -> None:
    one = ShiftPicture(convolution(images=8, width=9))
    drawing, data = read(one.svg()), one.record()
    numbers = [held[1] for tap in data["taps"] for held in tap["held"] if held]
    middles = [word for _, _, word, node in drawing.texts if node.get("text-anchor") == "middle" and word.isdigit()]
    assert len(middles) == len(numbers) + 5 * len(data["taps"])  # and the lanes above each panel
    for role, name in (("subtile", "masked"), ("atom", "new")):
        count = one.svg().count(f's-{role}"')
        assert count == sum(len(tap[name]) for tap in data["taps"]) + 1, role  # and the legend


def test_the_text_has_brackets_where_a_lane_is_masked() -> None:
    text = ShiftPicture(convolution(images=8, width=9)).text()
    assert text.count("[") == sum(
        len(tap["masked"]) for tap in ShiftPicture(convolution(images=8, width=9)).record()["taps"]
    )
    assert "\x1b[" in ShiftPicture(convolution(images=2, width=9)).text(color=True)


def test_too_many_taps_and_rows_that_are_not_there_are_refused() -> None:
    with pytest.raises(DescriptorError, match="the filter row has 13 taps, but at most 11 are drawn"):
        picture(convolution(images=1, width=40, taps=(1, 13), padding=(0, 6))).svg()
    with pytest.raises(DescriptorError, match="an output row is 4, but the maximum is 3"):
        ShiftPicture(convolution(images=1, width=9), 4).scene()


def test_a_row_whose_taps_are_padding_is_drawn_empty() -> None:
    one = convolution(images=1, width=9, height=1, taps=(2, 3), dilation=(2, 1))
    assert ShiftPicture(one).record()["taps"] == [] and ShiftPicture(one).svg()


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "taps.svg"
    line = "tmem shift --images 8 --height 4 --width 9 --channels 16 --filters 16 --taps 3x3 --padding 1x1 --no-verify"
    assert main([*line.split(), "--draw", str(path), "--row", "1"]) == 0
    assert capsys.readouterr().out.endswith(f"note: wrote {path}\n")
    assert path.read_text(encoding="utf-8").rstrip("\n") in ShiftPicture(convolution(images=8, width=9), 1).svg() + "\n"
    assert main([*line.split(), "--draw", str(tmp_path / "taps.png")]) == 2
    assert refusal(capsys.readouterr().err)
