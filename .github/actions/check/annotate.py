"""Print the findings of a SARIF file as annotation commands of a GitHub workflow: python annotate.py FILE."""

import json
import sys
from pathlib import Path
from typing import Any

#: The command of each level of SARIF.
COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
#: Characters with a meaning in a command, and the further ones in the value of a property.
ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
PROPERTY_ESCAPES = {**ESCAPES, ":": "%3A", ",": "%2C"}


def command(entry: dict[str, Any], title: str) -> str:
    """Return the annotation of one finding, or of one file that cannot be checked."""
    place = entry["locations"][0]["physicalLocation"]
    uri, line = place["artifactLocation"]["uri"], place["region"]["startLine"]
    escaped = [one.translate(str.maketrans(PROPERTY_ESCAPES)) for one in (uri, title)]
    text = f"{uri}:{line}: {entry['message']['text']}".translate(str.maketrans(ESCAPES))
    return f"::{COMMANDS[entry['level']]} file={escaped[0]},line={line},title={escaped[1]}::{text}"


def main() -> None:
    """Annotate every result, and every file that cannot be checked."""
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    for log in json.loads(text)["runs"] if text.strip() else []:
        for entry in log["results"]:
            print(command(entry, entry["ruleId"]))
        for invocation in log.get("invocations", []):
            for entry in invocation.get("toolExecutionNotifications", []):
                if entry["level"] == "error":
                    print(command(entry, "not checked"))


if __name__ == "__main__":
    main()
