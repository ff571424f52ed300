"""Questions of public threads, put to the server by the client of the protocol's own package, in one process of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from each import each
from errata_evidence import falsified, holds, plain
from places import ROOT, VECTORS

from descriptors.cli.mcp import TOOLS

ROWS = json.loads((VECTORS / "tasks.json").read_text(encoding="utf-8"))["rows"]
CALLS = [(row["task"], index, one) for row in ROWS for index, one in enumerate(row["calls"])]
JUDGED = [(row["task"], one) for row in ROWS for one in row["judged"]]
#: Calls that a client has under way at once.
AT_ONCE = 4

Answer = tuple[str, str, bool]


@pytest.fixture(scope="module")
def answers() -> Mapping[tuple[int, int], Answer]:
    """By task and call: the verdict, the text, and whether the protocol says that it is an error."""
    pytest.importorskip("mcp", reason="mcp is of the extra `mcp`")
    import anyio
    from mcp import ClientSession, StdioServerParameters, stdio_client

    collected: dict[tuple[int, int], Answer] = {}

    async def ask(session: ClientSession, limit: anyio.CapacityLimiter, task: int, index: int, one: Any) -> None:
        async with limit:
            result = await session.call_tool(one["tool"], one["arguments"])
        content: Any = result.content[0]
        verdict = (result.structured_content or {})["verdict"]
        collected[task, index] = (verdict, plain(content.text), bool(result.is_error))

    async def talk() -> None:
        words = ["-c", "from descriptors.cli.mcp import mcp; mcp()"]
        there = StdioServerParameters(command=sys.executable, args=words, cwd=ROOT, env=dict(os.environ))
        async with stdio_client(there) as (receiving, sending), ClientSession(receiving, sending) as session:
            await session.initialize()
            limit = anyio.CapacityLimiter(AT_ONCE)
            async with anyio.create_task_group() as group:
                for each_call in CALLS:
                    group.start_soon(ask, session, limit, *each_call)

    anyio.run(talk)
    return collected


def test_every_task_is_answered_as_the_page_says(answers: Mapping[tuple[int, int], Answer]) -> None:
    wrong = {}
    for task, index, one in CALLS:
        verdict, text, is_error = answers[task, index]
        right = verdict == one["verdict"] and is_error == (verdict == "refused")
        if not right or not all(part in text for part in one["says"]):
            wrong[task, index] = (verdict, text)
    assert not wrong


def test_the_facts_of_a_task_are_in_no_other_tasks_answer(answers: Mapping[tuple[int, int], Answer]) -> None:
    """Each task is told by what it says: else an answer to anything would pass."""
    for row in ROWS:
        facts = [part for one in row["calls"] for part in one["says"]]
        others = {task for (task, _), (_, text, _) in answers.items() if all(part in text for part in facts)}
        assert others <= {row["task"]}, row["task"]


@each("task, one", JUDGED)
def test_what_judges_a_task_holds_and_would_not_otherwise(task: int, one: dict[str, Any]) -> None:
    assert holds(one) and not holds(falsified(one)), task


def test_there_are_twenty_from_as_many_threads_over_most_tools() -> None:
    assert [row["task"] for row in ROWS] == list(range(1, 21))
    assert len({row["link"] for row in ROWS}) == 20 and all(row["judged"] for row in ROWS)
    assert {one["tool"] for _, _, one in CALLS} >= set(TOOLS) - {"plan", "tmem_plan", "tmem_accumulator", "tmem_cp"}
    verdicts = {one["verdict"] for _, _, one in CALLS}
    assert verdicts == {"answered", "wrong", "incomplete", "refused"}


def test_the_page_is_up_to_date() -> None:
    script = str(ROOT / "scripts" / "make_tasks.py")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
