"""What a student does on a page of the course, and when the page has answered."""

from __future__ import annotations

from typing import Any


def counted(page: Any, selector: str, name: str, act: Any) -> Any:
    """Do something, and wait until the element has counted it under a name; the element."""
    one = page.locator(selector)
    before = int(one.get_attribute(f"data-{name}") or 0)
    act()
    page.wait_for_selector(f'{selector}[data-{name}="{before + 1}"]', state="attached")
    return one


def exercise(where: str) -> str:
    """The selector of an exercise."""
    return f'[data-exercise="{where}"]'


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
    before = int(one.get_attribute("data-ran") or 0)
    one.locator(".run").click()
    page.locator(f'.example[data-ran="{before + 1}"]').and_(one).wait_for()
    return "\n".join(one.locator(".out > *").all_text_contents())
