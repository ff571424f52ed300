// A page of the course: it sends what was typed to the engine and shows what comes back. It knows no layouts and no answers.
(() => {
  const $ = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const held = JSON.parse($("course").textContent);
  const fromDisk = location.protocol === "file:";

  // ---- the engine, and how it fares ----
  const engine = engineIn(held.worker, (ready, why) => {
    document.documentElement.dataset.ready = ready ? "yes" : "no";
    $("engine").textContent = ready ? "The engine is ready." : `The engine did not start: ${why}`;
  });
  let waiting = 0, timer = 0;
  const busy = (text) => { $("busy").hidden = !text; $("busytext").textContent = text; };
  async function ask(path, question) {
    if (fromDisk) return { ok: false, error: { message: "opened from disk, the page has no engine; its foot says how to serve it" } };
    if (waiting++ === 0) timer = setTimeout(() => busy(document.documentElement.dataset.ready === "yes" ? "Working…" : "Starting the engine…"), 700);
    const found = await engine.ask(question, path);
    if (--waiting === 0) { clearTimeout(timer); busy(""); }
    return found;
  }
  $("stop").addEventListener("click", () => { engine.stop(); delete document.documentElement.dataset.ready; $("engine").textContent = "Stopped; the engine starts anew with the next question."; });
  if (!fromDisk) {
    $("engine").textContent = "Starting the engine…";
    if (document.querySelector(".example,.draw,.try")) engine.start(); else $("engine").textContent = "";
  }

  // ---- what a student has done, in this browser ----
  const KEY = "layoutalg-course";
  let memory = null;
  function kept() {
    try {
      const found = JSON.parse(localStorage.getItem(KEY));
      if (found?.schema === 1 && found.exercises && typeof found.exercises === "object") return found;
    } catch { if (memory) return memory; }
    return { schema: 1, name: "", exercises: {} };
  }
  function keep(change) {
    const found = kept();
    change(found);
    memory = found;
    try { localStorage.setItem(KEY, JSON.stringify(found)); } catch { $("kept").textContent = "This browser keeps nothing: what you solve is lost with the page."; }
    counts();
  }
  const of = (where) => ({ tried: 0, solved: 0, hints: 0, ...kept().exercises[where] });
  const note = (where, change) => keep((found) => { found.exercises[where] = { ...of(where), ...change(of(where)) }; });
  function counts() {
    const done = kept().exercises, solved = (lesson, count) => Array.from({ length: count }, (_, k) => done[`${lesson}.${k + 1}`]?.solved ? 1 : 0).reduce((a, b) => a + b, 0);
    for (const one of all("[data-lesson]")) one.textContent = `${solved(one.dataset.lesson, Number(one.dataset.count))} of ${one.dataset.count} solved`;
    const here = all(".exercise");
    if (here.length) $("done").textContent = `${here.filter((one) => done[one.dataset.exercise]?.solved).length} of ${here.length} exercises of this lesson are solved.`;
  }

  const say = (at, text, good) => { at.textContent = text; at.className = `verdict ${good ? "good" : "bad"}`; };
  const grow = (box) => { if (box.tagName === "TEXTAREA") box.rows = Math.max(box.value.split("\n").length, box.classList.contains("code") ? 1 : 2); };
  /** A box with a button that gives back what stood in it, and what it showed. */
  function restorable(whole, box, shown) {
    const back = whole.querySelector(".back"), first = shown.innerHTML;
    box.addEventListener("input", () => { grow(box); back.hidden = box.value === box.defaultValue; });
    back.addEventListener("click", () => { box.value = box.defaultValue; shown.innerHTML = first; grow(box); back.hidden = true; box.focus(); });
  }
  const onEnter = (box, act, plain) => box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey || plain)) { event.preventDefault(); act(); }
  });

  // ---- examples: each runs after those above it ----
  const examples = all(".example"), code = (example) => example.querySelector("textarea");
  for (const [place, example] of examples.entries()) {
    const out = example.querySelector(".out");
    async function run() {
      const found = await ask("run", { cells: examples.slice(0, place + 1).map((one) => code(one).value) });
      const pre = out.querySelector("pre"), error = found.ok ? found.error : found.error.message;
      pre.textContent = found.printed ?? "";
      out.replaceChildren(pre, ...(error ? [Object.assign(document.createElement("p"), { className: "verdict bad", textContent: error })] : []));
      if (!pre.textContent && !error) out.append(Object.assign(document.createElement("p"), { className: "verdict", textContent: "It prints nothing." }));
      example.dataset.ran = String(Number(example.dataset.ran ?? 0) + 1);
      example.querySelector(".back").hidden = false;
    }
    grow(code(example));
    restorable(example, code(example), out);
    example.querySelector(".run").addEventListener("click", run);
    onEnter(code(example), run);
  }

  // ---- figures ----
  for (const form of all(".draw")) {
    const box = form.querySelector("input,textarea"), shown = form.closest("figure").querySelector(".drawn"), verdict = form.querySelector(".verdict");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const found = await ask("draw", { kind: form.dataset.kind, text: box.value });
      if (found.ok) { shown.innerHTML = found.svg; measure(shown); }
      say(verdict, found.ok ? "Drawn." : found.error.message, found.ok);
      form.dataset.drawn = String(Number(form.dataset.drawn ?? 0) + 1);
    });
    grow(box);
    restorable(form, box, shown);
    form.querySelector(".back").addEventListener("click", () => { verdict.textContent = ""; });
    if (box.tagName === "TEXTAREA") onEnter(box, () => form.requestSubmit());
  }
  /** A picture is as wide as the text at most, and on a phone no smaller than it can be read. */
  function measure(shown) {
    const width = shown.querySelector("svg")?.viewBox.baseVal?.width;
    if (width) { shown.style.setProperty("--natural", `${width}px`); shown.firstElementChild.style.maxWidth = `${Math.round(1.5 * width)}px`; }
  }
  for (const shown of all(".drawn")) measure(shown);

  // ---- exercises: three hints one after the other, the solution after an attempt ----
  for (const section of all(".exercise")) {
    const where = section.dataset.exercise, form = section.querySelector(".try"), box = form.querySelector("input,textarea"), verdict = form.querySelector(".verdict");
    const hints = all(".hint", section), solution = section.querySelector(".solution");
    function show() {
      const mine = of(where);
      section.querySelector(".solved").hidden = !mine.solved;
      for (const [k, one] of hints.entries()) one.hidden = k > mine.hints;
      solution.hidden = !mine.tried && !mine.solved;
    }
    for (const [k, one] of hints.entries()) one.addEventListener("toggle", () => { if (one.open && of(where).hints <= k) { note(where, () => ({ hints: k + 1 })); show(); } });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const answer = box.value, found = await ask("check", { exercise: where, answer });
      if (found.ok && found.attempt) note(where, (mine) => ({ tried: mine.tried + 1, solved: mine.solved || (found.right ? 1 : 0), answer }));
      say(verdict, found.ok ? (found.right ? "Right." : `${found.told[0].toUpperCase()}${found.told.slice(1)}`) : found.error.message, found.ok && found.right);
      show();
      section.dataset.checked = String(Number(section.dataset.checked ?? 0) + 1);
    });
    box.value = of(where).answer ?? box.value;
    grow(box);
    box.addEventListener("input", () => { grow(box); verdict.textContent = ""; });
    if (box.tagName === "TEXTAREA") onEnter(box, () => form.requestSubmit());
    show();
  }

  // ---- the line that is handed in, and the teacher's page that reads lines ----
  $("handin")?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const name = $("name").value, done = kept().exercises, verdict = $("handin").querySelector(".verdict");
    const found = await ask("line", { name, solved: Object.keys(done).filter((where) => done[where].solved) });
    $("line").value = found.ok ? found.line : "";
    say(verdict, found.ok ? "Made." : found.error.message, found.ok);
    if (found.ok) keep((all) => { all.name = name; });
  });
  if ($("name")) $("name").value = kept().name ?? "";
  $("copy")?.addEventListener("click", async () => {
    $("line").select();
    let done = true;
    try { await navigator.clipboard.writeText($("line").value); } catch { done = document.execCommand("copy"); }
    say($("handin").querySelector(".verdict"), done ? "Copied." : "The browser did not let the page copy; the line is selected.", done);
  });
  $("forget")?.addEventListener("click", () => {
    if (!confirm("Forget all that is solved in this browser?")) return;
    memory = null;
    try { localStorage.removeItem(KEY); } catch { /* nothing was kept */ }
    counts();
    $("name").value = $("line").value = "";
    $("forgotten").textContent = "Forgotten.";
  });
  $("read")?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const found = await ask("read", { text: $("lines").value }), table = $("handed"), verdict = $("read").querySelector(".verdict");
    if (!found.ok) { say(verdict, found.error.message, false); return; }
    const wrong = found.lines.filter((one) => !one.ok).length;
    table.hidden = !found.lines.length;
    table.tBodies[0].replaceChildren(...found.lines.map((one, k) => {
      const row = document.createElement("tr");
      for (const text of one.ok ? [k + 1, one.name, one.solved.length, one.spans] : [k + 1, one.error.message]) row.insertCell().textContent = text;
      if (!one.ok) row.cells[1].colSpan = 3;
      return row;
    }));
    say(verdict, `${found.lines.length - wrong} lines are as they were made${wrong ? `; ${wrong} are not` : ""}.`, !wrong);
  });
  counts();
  window.addEventListener("storage", counts);

  // ---- kept for use without a network ----
  if (!fromDisk && "serviceWorker" in navigator) {
    navigator.serviceWorker.register("offline.js").then(() => navigator.serviceWorker.ready).then(() => {
      document.documentElement.dataset.offline = "yes";
      if (!$("kept").textContent) $("kept").textContent = "The whole course is kept in this browser and works without a network.";
    }).catch((error) => { $("kept").textContent = `The course is not kept for use without a network: ${error.message}`; });
  }
})();
