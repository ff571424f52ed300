"""Lessons as notebooks for Jupyter and Colab: text, examples to run, a cell for each answer; no outputs.

nbformat, which the extra ``course`` brings, makes and checks them; the same lesson gives the same bytes. Law: a cell
stands for each exercise, with what is to be filled in.

>>> from descriptors.course.source import EXAMPLE, parse
>>> [text for _, text in _cells(parse(EXAMPLE)) if text.startswith("check(")]
['check("1.1", "2:?")']
"""

from __future__ import annotations

from builder.markup import pieces
from descriptors.course.source import Lesson
from descriptors.errors import DescriptorError
from layoutalg import __version__

#: The package as a file, as `pip wheel` names it: what stands beside the notebooks where nothing is installed.
WHEEL = f"layoutalg-{__version__}-py3-none-any.whl"
_INSTALL = f"""# Colab, JupyterLite: first put the file {WHEEL}
# beside this notebook (Colab: the folder sign on the left, then Upload). Where layoutalg is installed, nothing happens.
from importlib.util import find_spec

if find_spec("layoutalg") is None:
    %pip install -q {WHEEL}"""
# A kernel that runs already reads no .pth file, and another distribution may have the name `descriptors`.
_START = """import sys
import layoutalg
sys.path.insert(0, layoutalg.__path__[0] + "-packages")  # where an installation keeps `descriptors`
from layoutalg import *
from descriptors.course.grading import check"""


def notebook(lesson: Lesson) -> str:
    """One lesson as the text of an `.ipynb` file.

    Raises:
        DescriptorError: if nbformat is not installed.
    """
    try:
        from nbformat import v4, validate, writes
    except ImportError as error:
        raise DescriptorError(
            "course: notebooks must have nbformat, found none; pip install '.[course]' in a checkout"
        ) from error
    cells = [
        ("markdown", f"# {lesson.number}. {lesson.title}\n\nAim: {lesson.aim}."),
        ("code", _INSTALL),
        ("code", _START),
        *_cells(lesson),
    ]
    book = v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    )
    for number, (kind, text) in enumerate(cells):
        cell = v4.new_markdown_cell(text) if kind == "markdown" else v4.new_code_cell(text)
        cell["id"] = f"cell-{number}"  # nbformat draws one at random
        book.cells.append(cell)
    validate(book)
    return str(writes(book)) + "\n"


def _cells(lesson: Lesson) -> list[tuple[str, str]]:
    cells: list[tuple[str, str]] = []
    for part in lesson.parts:
        if part.kind == "figure":
            cells.append(("code", f'draw(evaluate("{part.text}"))'))
        elif part.kind == "picture":
            cells.append(("code", part.text))
        elif part.kind == "cute":
            cpp, _, dsl = part.text.partition("\n---\n")
            cells.append(("markdown", f"CuTe C++:\n```cpp\n{cpp}\n```\nCuTe DSL:\n```python\n{dsl}\n```"))
        elif part.kind == "exercise":
            exercise = lesson.exercises[int(part.text) - 1]
            name = f"{lesson.number}.{part.text}"
            hints = "".join(
                f"<details><summary>hint {k}</summary>{hint}</details>\n" for k, hint in enumerate(exercise.hints, 1)
            )
            cells.append(("markdown", f"### {name} {exercise.name}\n\n{exercise.ask}\n\n{hints}"))
            quotes = '"""' if "\n" in exercise.starter else '"'
            cells.append(("code", f'check("{name}", {quotes}{exercise.starter}{quotes})'))
        else:
            cells += [("markdown", one) if isinstance(one, str) else ("code", one.typed) for one in pieces(part.text)]
    return cells
