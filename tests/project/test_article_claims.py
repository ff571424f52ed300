"""Claims: told with both values where they differ, and held against NVIDIA's own code."""

from __future__ import annotations

import pytest
from article import SW64_MNMAJOR, SW128_KMAJOR, Claim, Example, oracle_claims

from descriptors import oracle

EXAMPLES = {"sw128_kmajor": SW128_KMAJOR, "sw64_mnmajor": SW64_MNMAJOR}


def test_a_claim_that_fails_is_told_with_both_values() -> None:
    assert str(Claim("3.3", "SBO in bytes", 1024, 512)) == "WRONG 3.3    SBO in bytes: 1024, DERIVED 512"


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
@pytest.mark.skipif(not oracle.available(), reason="the CuTe DSL is not installed")
def test_the_cute_dsl_derives_the_same_layouts_and_compiles_the_same_word(example: Example) -> None:
    claims = list(oracle_claims(example))
    assert len(claims) == 6
    assert all(claim.holds for claim in claims), claims
