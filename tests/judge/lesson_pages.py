"""What a student does on a page of the course, and when the page has answered."""

from __future__ import annotations

from typing import Any


def counted(page: Any, selector: str, name: str, act: Any) -> None:
    """Do something, and wait until the element has counted it under a name."""
    one = page.locator(selector)
    before = int(one.get_attribute(f"data-{name}") or 0)
    act()
    one.and_(page.locator(f'[data-{name}="{before + 1}"]')).wait_for()


def exercise(where: str) -> str:
    """The selector of an exercise."""
    return f'[data-exercise="{where}"]'


def opened_hint(page: Any, where: str, number: int) -> None:
    """Open a hint, and wait until the one after it can be seen."""
    page.locator(f"{exercise(where)} .hint summary").nth(number).click()
    page.locator(f"{exercise(where)} .hint:visible").nth(min(number + 1, 2)).wait_for()


def said(page: Any, where: str, answer: str) -> str:
    """What the page says to an answer."""
    box = page.locator(f"{exercise(where)} .try :is(input,textarea)")
    box.fill(answer)
    check = page.locator(f"{exercise(where)} .try button")
    counted(page, exercise(where), "checked", check.click)
    return str(page.text_content(f"{exercise(where)} .verdict")).strip()


def printed(page: Any, number: int) -> str:
    """What an example prints when it is run."""
    one = page.locator(".example").nth(number)
    counted(page, f".example >> nth={number}", "ran", one.locator(".run").click)
    return "\n".join(one.locator(".out > *").all_text_contents())
