"""Names of the same thing: ours are public, the DSL's are there, the C++ ones stand in the headers if there are any."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
from cute_cpp import headers

import descriptors
import layoutalg
from builder.teacher import ROWS
from descriptors import oracle

LOOK_UP = """
import json, sys
import cutlass.cute as cute
missing = []
for name in json.loads(sys.argv[1]):
    found = cute
    for part in name.split("."):
        found = getattr(found, part, None)
    if not callable(found):
        missing.append(name)
print(json.dumps(missing))
"""


def test_each_name_of_ours_is_public() -> None:
    public = {*dir(layoutalg), *dir(descriptors)}
    assert {row.ours for row in ROWS if row.ours} <= public


@pytest.mark.skipif(not oracle.available(), reason="the CuTe DSL is not installed")
def test_each_name_of_the_dsl_is_there() -> None:
    names = [row.dsl for row in ROWS if row.dsl]
    for listed, missing in ((names, []), (["composition", "no_such"], ["no_such"])):
        done = subprocess.run([sys.executable, "-c", LOOK_UP, json.dumps(listed)], capture_output=True, check=True)
        assert json.loads(done.stdout.splitlines()[-1]) == missing


def test_each_cpp_name_stands_in_the_headers() -> None:
    if not headers():
        pytest.skip("no headers of CuTe: the package nvidia-cutlass is not installed")
    text = "\n".join(path.read_text(encoding="utf-8") for path in (headers()[0] / "cute").rglob("*.hpp"))
    assert [row.cpp for row in ROWS if row.cpp and not re.search(rf"\b{row.cpp}\b", text)] == []
