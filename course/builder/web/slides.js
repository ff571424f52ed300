// One slide at a time: arrow keys, buttons, the number after # in the address; `n` shows the speaker's notes.
"use strict";
const sheets = [...document.querySelectorAll(".sheet")];
const byId = (name) => document.getElementById(name);
let here = 0;

function show(number, focus) {
  here = Math.max(0, Math.min(sheets.length - 1, number));
  sheets.forEach((one, k) => one.classList.toggle("here", k === here));
  byId("where").textContent = `${here + 1} of ${sheets.length}`;
  byId("back").disabled = here === 0;
  byId("on").disabled = here === sheets.length - 1;
  if (location.hash !== `#s${here + 1}`) history.replaceState(null, "", `#s${here + 1}`);
  window.scrollTo(0, 0);
  if (focus) sheets[here].querySelector("h1, h2").focus({ preventScroll: true });
}

function tell() {
  const told = document.body.classList.toggle("told");
  byId("notes").setAttribute("aria-pressed", String(told));
}

const STEPS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1, Home: -1e6, End: 1e6 };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  // A page that is taller than the screen, or code wider than it, is scrolled first by the keys that scroll.
  const tall = document.documentElement.scrollHeight > window.innerHeight + 1;
  const vertical = event.key === "ArrowDown" || event.key === "ArrowUp";
  if (event.key in STEPS && !(tall && vertical)) {
    event.preventDefault();
    show(here + STEPS[event.key], true);
  } else if (event.key === "n") {
    tell();
  }
});
byId("back").addEventListener("click", () => show(here - 1, false));
byId("on").addEventListener("click", () => show(here + 1, false));
byId("notes").addEventListener("click", tell);
window.addEventListener("hashchange", () => show(fromAddress(), false));

function fromAddress() {
  const number = Number.parseInt(location.hash.replace("#s", ""), 10);
  return Number.isNaN(number) ? 0 : number - 1;
}

document.body.classList.add("scripted");
byId("bar").hidden = false;
show(fromAddress(), false);
