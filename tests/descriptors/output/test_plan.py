"""A plan of tensor copies as plain data."""

from __future__ import annotations

import json
from typing import Any

from descriptors import derive, tma_plan
from descriptors.output.plan import record as as_data


def test_the_record_is_plain_data() -> None:
    plan = tma_plan(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    record: dict[str, Any] = as_data(plan, plan.verify())
    assert json.loads(json.dumps(record))["layout"] == str(plan.layout)
