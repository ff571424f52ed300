"""The length of a message: every refusal of both programs, of their pages and of their tools is bounded by it.

>>> len(shortened("x" * 100_000)) < MOST_OF_A_MESSAGE + 50
True
"""

from __future__ import annotations

#: The most characters of a message: what is longer repeats something that was typed, and its middle is left out.
MOST_OF_A_MESSAGE = 2000


def shortened(message: str, most: int = MOST_OF_A_MESSAGE) -> str:
    """Return a message of bounded length: its beginning and its end, and how many characters are left out between.

    >>> shortened("found " + "x" * 5000 + "; give another", 60)
    'found xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ... (4960 characters left out) ... xxxxxx; give another'
    """
    if len(message) <= most:
        return message
    end = most // 3
    begin = most - end
    return f"{message[:begin]} ... ({len(message) - most} characters left out) ... {message[-end:]}"
