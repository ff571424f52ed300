"""Files in TOML with the values that a project expects, checked for ``descriptors check``."""

from __future__ import annotations

import click

from descriptors.answers import record, tell
from descriptors.check import kernel_text
from descriptors.cli.kernel_files import files_record, say_json, text_of
from descriptors.cli.terminal import for_terminal
from descriptors.errors import DescriptorError
from layoutalg.cli.console import Status, json_text, printable, say, wants_color


def check_contracts(files: tuple[str, ...], init: bool, as_json: bool, as_sarif: bool) -> Status:
    """Check the values that files in TOML expect, and write the reports.

    Args:
        files: the paths.
        init: write instead the tables that the only file lacks.
        as_json, as_sarif: the format, if it is not text.

    Raises:
        click.UsageError: if ``init`` goes with another format, or with several files.
        DescriptorError: if the only file cannot be checked, and SARIF is not wanted.
    """
    from descriptors.gemm import contract  # checking a kernel needs none of it

    if init:
        if as_json or as_sarif or len(files) > 1:
            raise click.UsageError("--init writes TOML for one file and cannot be combined with --json or --sarif")
        tables = contract.missing(text_of(files[0], language="TOML"))
        say(tables.removesuffix("\n") or "# every section has a table expect")
        return Status.ANSWER
    if len(files) == 1 and not as_sarif:
        report = contract.check_contract(text_of(files[0], language="TOML"))
        text = (
            json_text(record(report, name=files[0]))
            if as_json
            else for_terminal(tell(report, name=printable(files[0])))
        )
        say(text)
        return Status.ANSWER if report.ok else Status.DIFFERENCE
    reports: list[tuple[str, contract.ContractReport]] = []
    refused: list[tuple[str, Exception]] = []
    for file in files:
        try:
            reports.append((file, contract.check_contract(text_of(file, language="TOML"))))
        except (DescriptorError, OSError) as error:
            refused.append((file, error))
    if as_sarif:
        say_json(contract.sarif(reports, [(name, str(error)) for name, error in refused]))
    elif as_json:
        say(json_text(files_record(reports, refused)))
    else:
        texts = [for_terminal(tell(report, name=printable(name))) for name, report in reports]
        say("\n".join([*texts, *(kernel_text.tell_refused(name, error, wants_color()) for name, error in refused)]))
    if refused:
        return Status.BAD_INPUT
    return Status.ANSWER if all(report.ok for _, report in reports) else Status.DIFFERENCE
