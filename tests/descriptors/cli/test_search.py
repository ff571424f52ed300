"""The command `descriptors search`: a table for people, JSON for programs, and reasons for what is refused."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from descriptors.answers import record
from descriptors.cli.sweep import commands
from descriptors.errors import DescriptorError
from descriptors.sweep.finding import COLUMNS, KEYS
from descriptors.sweep.search import search, survey
from descriptors.sweep.survey_text import derive_command

ARGUMENTS = ["--tile", "128x64", "--dtype", "bf16", "--mma", "64x16"]
COMMAND = commands[0]


def run(*arguments: str) -> object:
    """The exit status; an error of ours is raised."""
    return COMMAND.main([*arguments], standalone_mode=False)


def table(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> str:
    assert run(*arguments) == status
    output = capsys.readouterr()
    assert output.err == ""
    return output.out


def test_the_best_and_its_command_come_first_then_a_row_for_each_that_copies_can_fill(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = table(capsys, *ARGUMENTS)
    outcome = survey(tile=(128, 64), dtype="bf16", mma=(64, 16))
    usable = [one for one in outcome.findings if str(one.major) == "K"]
    lines = out.splitlines()
    assert lines[0].startswith("best: K-major 128B: word 0x4000404000010000, 1 box, 16384 bytes")
    assert lines[1].split() == [
        "sm100",
        "is",
        "assumed,",
        *"because no --arch is given; Hopper: sm90".split(),
    ]
    assert lines[2].strip() == derive_command(outcome.findings[0], outcome.asked)
    assert "not measured on a Blackwell GPU" in lines[3]
    assert lines[4].startswith("bf16 tile 128x64, 1 stage, mma 64x16, sm100, producer tma of data contiguous along K")
    assert lines[6].split() == ["#", "major", "swizzle", "order", "boxes", "align", "waste", "total", "word"]
    rows = [line.split() for line in lines[7 : 7 + len(usable)]]
    for i, (row, one) in enumerate(zip(rows, usable, strict=True), 1):
        order = "any" if len(one.orders) > 1 else f"{one.order[0]},{one.order[1]}"
        assert row[:5] == [str(i), str(one.major), str(one.swizzle), order, str(one.boxes)]
        assert row[-1] == f"{one.word:#018x}"
    assert f"{len(outcome.findings) - len(usable)} more are MN-major: use --contiguous MN" in out
    assert out.isascii() and "\x1b" not in out
    assert not [line for line in lines if line != line.rstrip() or len(line) > 150]
    assert max(map(len, lines[6 : 7 + len(usable)])) <= 80


def test_no_mode_is_called_the_best_if_none_fits(capsys: pytest.CaptureFixture[str]) -> None:
    lines = table(capsys, *ARGUMENTS, "--smem", "1024", status=1).splitlines()
    assert lines[0].startswith("no layout fits 1024 bytes of shared memory; the best: K-major 128B: word 0x")
    assert ", none of which fits, " in survey(tile=(128, 64), dtype="bf16", smem=1024).headline
    assert table(capsys, *ARGUMENTS, "--smem", "16384").startswith("best: ")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            ["--dtype", "e2m1", "--arch", "sm90"],
            "legality: sm90 has no kind of MMA instruction for e2m1; for sm90 the kinds are",
        ),
        (["--dtype", "e3m2", "--arch", "sm90"], "sm90 has no kind of MMA instruction for e3m2"),
        (["--dtype", "e4m3", "--kind", "f16", "--arch", "sm100"], "legality: dtype is e4m3, but must be f16 or bf16"),
        (["--dtype", "bf16", "--cta-group", "2", "--arch", "sm90"], "legality: cta_group is 2, but must be 1"),
        (
            ["--dtype", "bf16", "--arch", "sm90"],
            "tile MN is 100, which is not a multiple of the MN of any sm90 instruction",
        ),
    ],
)
@pytest.mark.parametrize("operand", [[], ["--operand", "A"]])
def test_a_refusal_names_the_cause_and_not_the_tile(options: list[str], reason: str, operand: list[str]) -> None:
    with pytest.raises(DescriptorError, match=reason):
        run("--tile", "100x64", *options, *operand)


def test_all_shows_every_column_and_what_it_means(capsys: pytest.CaptureFixture[str]) -> None:
    out = table(capsys, *ARGUMENTS, "--all")
    assert "sorted by fits, carries, transposes, padding, boxes, waste;" in out
    assert all(meaning in out for meaning in COLUMNS.values())
    heading = next(line for line in out.splitlines() if line.lstrip().startswith("#"))
    assert {"wavefronts", "conflicts", "padding", "slack", "fits", "carries", "transposes"} <= set(heading.split())


def test_mn_major_is_no_first_choice_for_data_that_are_contiguous_along_k(capsys: pytest.CaptureFixture[str]) -> None:
    """96 of K: MN-major 128B needs two copies, K-major 64B three; but no copy transposes."""
    tile = ["--tile", "128x96", "--dtype", "bf16", "--mma", "64x16", "--arch", "sm90"]
    assert table(capsys, *tile).startswith("best: K-major 64B, order 0,1: word 0x8000002000010000, 3 boxes")
    assert table(capsys, *tile, "--contiguous", "MN").startswith("best: MN-major 128B")
    assert table(capsys, *tile, "--major", "MN").startswith("best: MN-major 128B")
    across = table(capsys, *tile, "--major", "MN", "--contiguous", "K")
    assert "transposed: the data must be contiguous along MN" in across
    with pytest.raises(DescriptorError, match="contiguous is given, but the producer is 'rows'"):
        run(*tile, "--producer", "rows", "--contiguous", "K")


@pytest.mark.parametrize("producer", ["tma", "rows"])
def test_a_tile_that_fits_comes_before_all_that_are_padded(producer: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = table(capsys, "--tile", "128x96", "--dtype", "bf16", "--mma", "64x16", "--pad", "--producer", producer)
    assert "--tile 128x96 " in out and "padded:" not in out
    ranked = search(tile=(128, 96), dtype="bf16", mma=(64, 16), pad=True, producer=producer)
    padded = [one.padding_bytes > 0 for one in ranked if not one.transposes]
    assert True in padded and padded == sorted(padded)


def test_where_all_are_padded_the_least_comes_first_and_the_other_tile_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = table(capsys, "--tile", "128x176", "--dtype", "e4m3", "--mma", "64x32", "--pad", "--arch", "sm90")
    assert "padded: 128x176 has no layout; 128x192 is derived" in out and "--tile 128x192 " in out


def test_refusals_come_last_in_whole_words_and_all_has_the_sources(capsys: pytest.CaptureFixture[str]) -> None:
    tf32 = ["--tile", "64x32", "--dtype", "tf32", "--mma", "64x8"]
    short, whole = table(capsys, *tf32), table(capsys, *tf32, "--all")
    assert "refused: 10 candidates" in short and "and 1 more (--all)" in short and "..." not in short
    assert "swizzle is 128B, but must be 128B_BASE32B\n" in short and "PTX ISA" not in short
    assert "more (--all)" not in whole and "PTX ISA" in whole
    assert whole.count("but must be 128B_BASE32B; for") == 4
    assert short.index("refused:") > short.index("total")


def test_top_shows_the_best_and_says_how_many_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    out = table(capsys, *ARGUMENTS, "--top", "2")
    assert "the best 2 of 15" in out and "\n3 " not in out
    best = json.loads(table(capsys, *ARGUMENTS, "--top", "2", "--json"))
    assert (len(best["findings"]), best["found"]) == (2, 15)


def test_json_has_every_column_the_word_and_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    told_record = json.loads(table(capsys, *ARGUMENTS, "--stages", "4", "--producer", "rows", "--json"))
    outcome = survey(tile=(128, 64), dtype="bf16", mma=(64, 16), stages=4, producer="rows")
    assert told_record == {"schema": 1, **json.loads(json.dumps(record(outcome)))}
    assert told_record["sorted_by"] == list(KEYS["stores"]) and told_record["columns"] == dict(COLUMNS)
    assert told_record["request"]["stages"] == 4 and told_record["request"]["tile"] == [128, 64]
    for entry, one in zip(told_record["findings"], outcome.findings, strict=True):
        assert {name: entry[name] for name in COLUMNS} == {name: getattr(one, name) for name in COLUMNS}
        assert int(entry["word"], 16) == one.word and entry["command"] == derive_command(one, outcome.asked)
        assert entry["proved_elements"] == 128 * 64 and entry["proved_at"] == [0, 16384, 32768, 49152]
    assert {entry["swizzle"] for entry in told_record["refused"]} == {"128B_BASE32B"}


def test_a_column_without_an_answer_is_a_dash_and_the_reason_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    out = table(capsys, "--tile", "64x64", "--dtype", "e2m3", "--mma", "64x32", "--producer", "columns", "--all")
    assert "no boxes: tma: " in out and "no stores: plain stores write whole bytes" in out
    first = next(line.split() for line in out.splitlines() if line.lstrip().startswith("1 "))
    assert first[4:8] == ["-", "-", "-", "-"]


def test_padding_is_offered_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    padded = json.loads(table(capsys, "--tile", "128x48", "--dtype", "bf16", "--mma", "64x16", "--pad", "--json"))
    assert {entry["padding_bytes"] for entry in padded["findings"]} == {0, 128 * 16 * 2}
    assert "--tile 128x64 " in next(one["command"] for one in padded["findings"] if one["padding_bytes"])


def test_a_search_that_finds_nothing_says_so_and_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--tile", "128x64", "--dtype", "bf16", "--mma", "64x24"]
    out = table(capsys, *arguments, status=1)
    assert "nothing found\n" in out and "more (--all)" not in out
    uneven = ["--tile", "96x48", "--dtype", "bf16", "--mma", "64x16"]
    assert "nothing found; --pad would" in table(capsys, *uneven, status=1)
    assert json.loads(table(capsys, *arguments, "--json", status=1))["findings"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dtype", "bf17"], "dtype is "),
        (["--producer", "(32,8"], "is not a name or a layout of modes"),
        (["--tile", "128"], "which is not MNxK of one stage"),
        (["--stages", "0"], "stages is "),
        (["--smem", "3"], "smem is "),
        (["--arch", "sm80"], "arch is "),
    ],
)
def test_bad_input_is_a_typed_error(arguments: list[str], message: str) -> None:
    with pytest.raises(DescriptorError) as error:
        run(*ARGUMENTS, *arguments)
    assert message in str(error.value)


@pytest.mark.parametrize("arguments", [["--tile", "128by64"], ["--top", "0"], ["--smem", "much"], ["--stages", "x"]])
def test_options_that_are_no_numbers_are_usage_errors(arguments: list[str]) -> None:
    assert CliRunner().invoke(COMMAND, [*ARGUMENTS, *arguments]).exit_code == 2


def test_the_help_shows_commands_and_explains_the_producer() -> None:
    text = " ".join(CliRunner().invoke(COMMAND, ["--help"]).output.split())
    assert (
        "descriptors search --tile 128x64" in text
        and "--producer" in text
        and "The exit status is 1 if no candidate fits" in text
    )


def test_json_has_the_box_of_the_tensor_copies_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    planned = json.loads(table(capsys, *ARGUMENTS, "--json"))["findings"]
    outcome = survey(tile=(128, 64), dtype="bf16", mma=(64, 16)).findings
    assert [entry["box"] for entry in planned] == [list(one.plan.box) for one in outcome if one.plan is not None]
    assert planned[0]["box"] == [64, 128] and planned[0]["tma_refused"] is None
    padded = json.loads(table(capsys, "--tile", "64x64", "--dtype", "e2m3", "--mma", "64x32", "--json"))["findings"]
    without = [entry for entry in padded if entry["boxes"] is None]
    assert without and all(entry["box"] is None and entry["tma_refused"].startswith("tma: ") for entry in without)


def test_the_request_is_written_as_it_was_typed(capsys: pytest.CaptureFixture[str]) -> None:
    typed = ["--mma", "64x16", "--dtype", "BF16", "--tile", "128x64", "--major", "mn"]
    request = json.loads(table(capsys, *typed, "--json"))["request"]
    assert list(request)[:4] == ["mma", "dtype", "tile", "major"]
    assert (request["dtype"], request["major"], request["smem"]) == ("BF16", "mn", 232448)
    assert "\nBF16 tile 128x64, 1 stage, mma 64x16, " in table(capsys, *typed)
    data = record(survey(tile=(128, 64), dtype="BF16", mma=(64, 16), major="mn"))["request"]
    assert json.loads(json.dumps(data)) == request
