"""What a script of the course does: it prints an example's derivation, and checks every number of it.

Law: the last line counts the claims that hold.

>>> claims = [Claim("3", "a number", 2, derived) for derived in range(4)]
>>> [tell_claims(claims[:count]).splitlines()[-1] for count in (2, 3, 4)]
['0 of 2 hold', '1 of 3 hold', '1 of 4 hold']
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from descriptors import oracle
from descriptors.answers import tell
from descriptors.article.claims import Claim, Example, oracle_claims
from descriptors.errors import DescriptorError, LayoutError
from layoutalg.cli.console import NotThereError, Status, run, say


def main(example: Example, arguments: Sequence[str] | None = None, own: Iterable[Claim] = ()) -> int:
    """Print an example's derivation and check every number of it.

    Args:
        example: which one.
        arguments: command line: nothing, or ``--check`` to ask the CuTe DSL as well; that of this process if left out.
        own: what the script claims of its own steps; told where it does not hold, as the rest repeats what does.

    Returns:
        exit status: 0 if everything holds, 1 if a number is wrong, 2 for another argument, 3 without a CuTe DSL.
    """

    @click.command(help=f"{example.title}: every step, and every number of the article.")
    @click.option("--check", is_flag=True, help="Compare with the CuTe DSL too.")
    def script(check: bool) -> Status:
        return _checked(example, check, own)

    return run(script, Path(sys.argv[0]).name, [DescriptorError, LayoutError], arguments)


def _checked(example: Example, check: bool, own: Iterable[Claim]) -> Status:
    if check and not oracle.available():
        raise NotThereError(f"--check: {oracle.MISSING}")
    derivation = example.derive()
    claims = example.check(derivation)
    say(f"{example.title}\n\n{tell(derivation)}\n\nEvery number of the article:\n{tell_claims(claims)}")
    if wrong := [claim for claim in own if not claim.holds]:
        say(f"\nThe script's own steps:\n{tell_claims(wrong)}")
    claims += wrong
    if check:
        try:
            asked = list(oracle_claims(example))
        except oracle.OracleError as error:
            raise NotThereError(f"--check: {error}") from error
        say(f"\nThe same by the CuTe DSL:\n{tell_claims(asked)}")
        claims += asked
    return Status.ANSWER if all(claim.holds for claim in claims) else Status.DIFFERENCE


def tell_claims(claims: Sequence[Claim]) -> str:
    """Claims for a person, a line each, and how many hold.

    >>> print(tell_claims([Claim("3.3", "SBO in bytes", 1024, 1024)]))
    ok    3.3    SBO in bytes: 1024
    1 of 1 hold
    """
    holding = sum(claim.holds for claim in claims)
    return "\n".join([*map(str, claims), f"{holding} of {len(claims)} hold"])
