"""Examples are taken out of the text as doctest takes them: none is lost, and none is cut in two."""

from __future__ import annotations

from doctest import DocTestParser

from each import each

from builder.markup import Example, pieces
from descriptors.course.catalog import folder, lessons


@each("lesson", lessons(), ids=lambda lesson: str(lesson.number))
def test_the_examples_are_those_that_doctest_runs(lesson) -> None:
    (path,) = folder().glob(f"{lesson.number:02}-*.md")
    known = "".join(one.source for one in DocTestParser().get_examples(path.read_text(encoding="utf-8")))
    parts = [one for part in lesson.parts if part.kind == "text" for one in pieces(part.text)]
    assert "".join(f"{one.typed}\n" for one in parts if isinstance(one, Example)) == known
    assert not [one for one in parts if isinstance(one, str) and ">>> " in one]


def test_continued_lines_blank_lines_and_other_code_are_kept() -> None:
    text = """```python
>>> for i in (1, 2):
...     print(i, end="<")
1<2<
>>> print()
<BLANKLINE>

```
```text
no example
```
"""
    example, rest = pieces(text)
    assert example == Example(
        'for i in (1, 2):\n    print(i, end="<")\nprint()',
        "1<2<",
        '>>> for i in (1, 2):\n...     print(i, end="<")\n1<2<\n>>> print()\n<BLANKLINE>',
    )
    assert rest == "```text\nno example\n```"
