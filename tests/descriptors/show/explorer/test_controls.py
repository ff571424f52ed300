"""The controls as HTML: every value in its place, whatever it holds."""

from __future__ import annotations

from html.parser import HTMLParser

from descriptors.show.explorer.page import PRESETS, choices, fill_controls, first_state, options, page, source


class Controls(HTMLParser):
    """The values of the controls of a document, as a browser reads them."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.values: dict[str, str | bool] = {}
        self.offered: dict[str, list[str]] = {}
        self.list = ""
        self.feed(document)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if name := attributes.get("name"):
            self.list = name if tag == "select" else ""
            self.values[name] = (
                "checked" in attributes if attributes.get("type") == "checkbox" else attributes.get("value") or ""
            )
        if tag == "option":
            self.offered.setdefault(self.list, []).append(attributes.get("value") or "")
            self.is_selected = "selected" in attributes

    def handle_data(self, data: str) -> None:
        if self.lasttag == "option" and self.list and data.strip():
            self.offered[self.list][-1] = self.offered[self.list][-1] or data
            if self.is_selected:
                self.values[self.list] = data


def test_every_control_has_the_value_of_its_state() -> None:
    state = first_state() | {"dtype": "tf32", "swizzled": False, "base": 1024, "major": ""}
    controls = Controls(fill_controls(source("page.html"), state, choices()))
    for name, value in controls.values.items():
        if name not in ("load", "major", "operand", "viewport", "description", "generator"):
            assert value == (value if isinstance(value, bool) else str(state[name])), name
    assert controls.values["dtype"] == "tf32" and controls.values["swizzled"] is False
    assert controls.offered["dtype"] == choices()["dtype"]


def test_what_a_state_holds_is_no_markup_and_no_part_of_the_template() -> None:
    hostile = '"><script>alert(1)</script>{{script}}'
    html = page({"lanes": "", "cell": "3,4", "paste": hostile})
    assert html.count("<script>") == 2, "one before the first paint, one after all"
    template = '<input name="layout"><select name="unit"></select>'
    controls = Controls(fill_controls(template, {"layout": hostile, "unit": hostile}, {"unit": ["elements"]}))
    assert controls.values == {"layout": hostile, "unit": hostile}


def test_a_value_that_a_list_does_not_offer_is_shown_all_the_same() -> None:
    assert "<option selected>f64</option>" in options(["bf16"], "f64")
    printed = next(one["question"] for one in PRESETS if "printed" in one["name"])
    assert page(printed).count("selected>its own</option>") == 2
