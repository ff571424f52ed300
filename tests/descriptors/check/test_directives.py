"""The directives of a module: a missing target or version, and a version that is not known here."""

from __future__ import annotations

import pytest

from descriptors import DescriptorError, check_ptx

BODY = """\
.address_size 64
.shared .align 8 .b64 bar;
.visible .entry k() .reqntid 1
{
 .reg .b32 %r<2>;
 mov.u32 %r1, bar;
 mbarrier.init.shared::cta.b64 [%r1], 1;
 fence.mbarrier_init.release.cluster;
 wgmma.fence.sync.aligned;
 ret;
}
.visible .entry l() .reqntid 32
{
 wgmma.fence.sync.aligned;
 ret;
}
"""


def test_a_missing_target_is_reported_once() -> None:
    report = check_ptx(f".version 8.8\n{BODY}")
    told = [one for one in report.findings if one.rule.property == "forms"]
    assert [(one.rule.name, one.sentence) for one in told] == [
        ("form-directive", "the module has no .target directive")
    ]


@pytest.mark.parametrize(("version", "verdict"), [("9.5", "clean"), ("99.9", "incomplete")])
def test_the_forms_of_a_version_that_is_not_known_are_undecided(version: str, verdict: str) -> None:
    report = check_ptx(f".version {version}\n.target sm_90a\n{BODY}")
    (forms,) = [one for one in report.undecided if one.property == "forms"] or [None]
    assert (verdict == "incomplete") == (forms is not None)
    assert forms is None or (forms.line, forms.what) == (1, ".version 99.9")


def test_a_missing_version_is_reported_at_the_first_statement() -> None:
    with pytest.raises(DescriptorError, match=r"begins with '.target sm_90a', not with .version; line 2"):
        check_ptx(f"// a kernel\n.target sm_90a\n{BODY}")
