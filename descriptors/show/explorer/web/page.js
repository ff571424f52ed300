"use strict";
// The page sends questions to the engine and shows the answers. Pictures and sentences come from the engine.
(() => {
  const baked = JSON.parse(document.getElementById("baked").textContent);
  const $ = (id) => document.getElementById(id);
  const make = (name, given = {}, ...children) => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(given)) {
      if (key === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
      else if (key in node && key !== "list") node[key] = value;
      else node.setAttribute(key, value);
    }
    node.append(...children);
    return node;
  };
  const CLOSER = ["tile", "memory", "atom"];
  const TABS = Object.fromEntries([...$("tabs").children].map((tab) => [tab.id.slice(4), tab.textContent]));
  const OPERAND = ["tile", "dtype", "major", "swizzle", "mma", "order", "operand", "arch", "layout", "unit"];
  const first = baked.first;
  let state = structuredClone({ ...first, ...baked.question });
  let shown = { ...baked.answer }, good = structuredClone(state);
  let latest = 0, lastSvg = null, typing = null, refused = false, underway = "";
  const frozen = baked.engine === "none";

  // ---- the engine: a server, a worker with Pyodide, or none, where the page has only the answers stored in it ----
  let loading = baked.engine === "worker" ? "the engine is loading; this takes a few seconds" : "";
  const engine = engineIn("worker.js?answers=descriptors.show.explorer.page", (ready, why) => {
    loading = ready ? "" : "the engine did not start";
    status(ready ? "" : `the engine did not start: ${why}`);
    badge();
    document.documentElement.dataset.ready = ready ? String(Math.round(performance.now())) : "no";
  });
  const engines = {
    async server(question, path = "answer") {
      const found = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
      return found.json();
    },
    worker: (question, path) => engine.ask(question, path),
    async none(question) {
      const asked = { ...first, ...question }, base = { ...first, ...baked.question }, picture = baked.tabs[asked.tab];
      if (JSON.stringify(of(asked)) !== JSON.stringify(of(base))) return { frozen: "it shows only one state" };
      if (asked.cell === base.cell) return { ...baked.answer, stage: picture };
      const cell = /^\s*(\d{1,9})[x, ]+(\d{1,9})\s*$/.exec(asked.cell)?.slice(1).map(Number);
      const found = cell && await kept(cell, asked.tab, baked.answer, picture);
      return found ?? { frozen: cell && !baked.kept ? "its tile has too many elements to store" : "it has no such element" };
    },
  };
  const kept = keptIn(baked.kept);
  const of = ({ want, known, tab, cell, paste, ...rest }) => rest;
  /** Send a question and return the answer, which is an error if the engine does not respond. */
  const ask = async (question, path) => {
    try { return await engines[baked.engine](question, path); } catch (error) { return { ok: false, error: { message: `no response from the engine: ${error.message}` } }; }
  };

  const status = (text) => { $("status").textContent = text; };
  const small = () => {
    const found = {};
    for (const [key, value] of Object.entries(state)) if (JSON.stringify(value) !== JSON.stringify(first[key])) found[key] = value;
    return found;
  };

  // ---- the state in the address: each change is a history entry, so that the back button undoes it ----
  const writeHash = (how) => {
    const parts = Object.entries(small()).map(([key, value]) =>
      `${key}=${encodeURIComponent(typeof value === "object" ? JSON.stringify(value) : String(value))}`);
    const hash = parts.length ? `#${parts.join("&")}` : "";
    if (hash === location.hash) return;
    const depth = (history.state?.depth ?? 0) + (how === "push" ? 1 : 0);
    history[how === "push" ? "pushState" : "replaceState"]({ depth }, "", location.pathname + location.search + hash);
    $("undo").disabled = !depth;
  };
  const readHash = () => {
    const found = {};
    for (const part of location.hash.slice(1).split("&").filter(Boolean)) {
      const [key, ...rest] = part.split("=");
      if (!(key in first)) continue;
      let value;
      try { value = decodeURIComponent(rest.join("=")); } catch { continue; }
      if (typeof first[key] === "number") value = /^-?\d+$/.test(value) ? Number(value) : value;
      if (typeof first[key] === "boolean") value = value === "true" || value === "1";
      if (key === "edit") { try { value = JSON.parse(value); } catch { continue; } }
      found[key] = value;
    }
    return found;
  };

  // ---- questions: text first, then the picture, then the proof; answers that arrive too late are dropped ----
  const STEPS = { all: [["told", "inspector", "edited"], ["stage"], ["proof", "code"], ["links"]], cell: [["told", "inspector", "edited", "stage"]], look: [["stage", "told"]] };
  const subject = (one) => JSON.stringify([...OPERAND, "base", "stage"].map((key) => one[key]));
  const changed = (one) => JSON.stringify([one.word, one.edit]);
  /** Parts of the page that are not computed yet for the state; they are gray. */
  const waiting = new Set();
  function wait() {
    if (subject(state) !== subject(good)) ["told", "stage", "proof"].forEach((part) => waiting.add(part));
    else if (changed(state) !== changed(good) || (changed(state) !== changed(first) && state.cell !== good.cell)) ["told", "stage"].forEach((part) => waiting.add(part));
    badge();
  }
  const arrived = (parts) => { parts.forEach((part) => waiting.delete(part)); document.documentElement.removeAttribute("data-pending"); badge(); };
  /** Request and show the parts that the state needs. `mode`: push a history entry, keep the last, or wait for the end of typing. */
  async function refresh(kind = "all", mode = "push") {
    const mine = ++latest;
    const began = performance.now();
    writeHash(mode);
    fill();
    wait();
    const steps = [...STEPS[kind]];
    if (kind === "all" && $("story").open) steps.push(["story"]);
    for (const want of steps) {
      const found = await ask({ ...small(), paste: undefined, want, known: shown.stage?.picture }, "answer");
      if (mine !== latest) return;
      if (found.stage?.picture) found.stage.svg ??= shown.stage.svg;
      if (found.frozen) { status(`This page is frozen: ${found.frozen}. Run descriptors explore for other tiles.`); state = structuredClone(good); typing = null; fill(); tabs(); writeHash("keep"); arrived(["told", "stage", "proof"]); return; }
      if (!found.ok) {
        refused = true;
        underway = "";
        if (mode === "typing") { status(`incomplete input: ${found.error.message}`); return; }
        shown = { ...shown, proof: null, edited: null };
        status("");
        arrived(["told", "stage", "proof"]);
        problem(found.error.message);
        return;
      }
      refused = false;
      problem("");
      if (frozen || mode === "typing") status("");
      good = structuredClone(state);
      Object.assign(shown, found);
      show(want);
      arrived(want);
      document.documentElement.dataset[want.includes("stage") ? "drawn" : want[0]] = String(Math.round(performance.now() - began));
      if (kind === "cell" && shown.told.word !== shown.links?.word && !steps.some(([one]) => one === "links")) steps.push(["links"]);
    }
    underway = "";
    document.documentElement.dataset.settled = String(mine);
  }
  let timer = 0;
  const soon = (kind, mode) => { clearTimeout(timer); underway = mode; wait(); timer = setTimeout(() => refresh(kind, mode), 60); };
  const problem = (text) => { $("problem").hidden = !text; $("problem").replaceChildren(make("b", { textContent: text }), text ? " The page below shows the last valid state." : ""); document.body.classList.toggle("stale", Boolean(text)); };

  // ---- showing ----
  function show(parts) {
    for (const part of parts) ({ told: tellAll, stage, inspector, proof: badge, code, story, edited, pasted, links })[part]?.();
  }
  /** The pasted item if the picture does not show it; the page then describes the item instead of the tile. */
  const alone = () => { const found = shown.pasted; return found && !found.error && (found.picture || !found.use || !found.ok) ? found : null; };
  /** Show the verdict on exactly what is on the screen: the descriptor as typed, and whether it is right. */
  function badge() {
    const at = $("proof"), edited = shown.edited, told = shown.told, root = document.documentElement, other = alone();
    const say = (judged) => { $("warnings").textContent = (judged?.warnings ?? []).map((one) => `warning: ${one}`).join("\n"); $("covers").textContent = judged?.scope ?? ""; };
    document.body.classList.toggle("alone", Boolean(other));
    if (other) {
      const [name, text] = other.picture ? ["wait", "drawn without a tile: there is no descriptor to prove"] : [other.ok ? "good" : "bad", other.text.split("\n")[0]];
      $("wordof").textContent = document.title = other.kind;
      say(null);
      $("headword").textContent = ""; at.className = `badge ${name}`; at.textContent = text; $("reset").hidden = true;
      return;
    }
    const isLate = waiting.has("told"), proof = shown.proof;
    root.classList.toggle("late", isLate || waiting.has("stage"));
    $("wordof").textContent = isLate ? "descriptor" : `descriptor of subtile (${told.subtiles.chosen.join(",")})`;
    $("headword").textContent = isLate ? state.word || "…" : edited?.word ?? told.word;
    $("reset").hidden = !(state.word || Object.keys(state.edit).length);
    const [name, text] = isLate || (!edited && waiting.has("proof")) ? ["wait", `not computed yet${loading ? `: ${loading}` : ""}`]
      : edited ? [edited.tone, edited.verdict]
      : !proof ? ["wait", ""] : proof.error ? ["bad", proof.error.message] : [proof.tone, proof.headline];
    say(name === "wait" ? null : edited ?? proof);
    at.className = `badge ${name}`;
    at.textContent = text;
    document.title = isLate ? "descriptors explore" : `${edited ? `${edited.verdict} · ` : ""}${told.summary}`;
  }
  function tellAll() {
    const told = shown.told;
    if (!told || told.error) { problem(told?.error?.message ?? ""); return; }
    const edited = shown.edited && !shown.edited.error ? shown.edited : null;
    $("summary").textContent = told.summary;
    $("word").value = edited ? edited.word : told.word;
    $("note").textContent = told.transposed;
    fields(edited?.fields ?? told.fields, told.fields);
    subtiles(told);
    queueMicrotask(links);
    $("stagelabel").hidden = told.stages < 2;
    $("steps").replaceChildren(...told.steps.map((step, number) => make("li", {}, step.title, make("pre", { tabIndex: 0, "aria-label": step.title }, ...step.lines.map((line) => make("span", { textContent: `${line.replace(/^ {3}/, "")}\n` }))), make("p", { className: "modes", "data-step": String(number) }))));
    $("commands").replaceChildren(...told.commands.map(({ what, line }) => make("div", {}, make("p", { className: "quiet", textContent: what }), make("div", { className: "command" }, make("pre", { textContent: line, tabIndex: 0, "aria-label": what }), copier(() => line, `copy the command: ${what}`)))));
  }
  const copier = (text, label) => make("button", { type: "button", textContent: "copy", "aria-label": label, on: { click: () => copy(text()) } });
  async function copy(text) {
    try { await navigator.clipboard.writeText(text); status("copied"); setTimeout(() => { if ($("status").textContent === "copied") status(""); }, 2000); } catch {
      const area = make("textarea", { value: text, className: "hide" });
      document.body.append(area); area.select(); const done = document.execCommand("copy"); area.remove();
      status(done ? "copied" : "the browser did not allow copying");
    }
  }
  function fields(rows, own) {
    const table = $("fields"), focused = document.activeElement?.dataset?.field;
    const body = rows.map((field, index) => {
      const input = field.choices.length
        ? make("select", {}, ...choice(field.choices, String(field.value)))
        : make("input", { value: String(field.value), spellcheck: false, inputMode: "numeric" });
      input.dataset.field = field.name;
      input.setAttribute("aria-label", `${field.name}, bits ${field.span}`);
      input.addEventListener("change", () => { state.edit = { ...state.edit, [field.name]: input.value }; refresh("cell"); });
      const changed = String(field.value) !== String(own[index]?.value);
      return make("tr", { "data-row": field.name, className: `${field.idle ? "idle" : ""} ${changed ? "changed" : ""}` }, make("th", { scope: "row" }, ...field.name.split(/(?<=_)/).flatMap((part, i) => i ? [make("wbr"), part] : [part])), make("td", { className: "mono", textContent: field.span }), make("td", {}, input), make("td", {}, make("b", { className: "count" }), ` ${field.meaning}`));
    });
    table.replaceChildren(make("caption", { className: "hide", textContent: "Fields of the descriptor; a changed value is compared with the tile" }), make("thead", {}, make("tr", {}, ...["field", "bits", "value", ""].map((name) => make("th", { scope: "col", textContent: name || "meaning", className: name ? "" : "quiet" })))), make("tbody", {}, ...body));
    if (focused) table.querySelector(`[data-field="${CSS.escape(focused)}"]`)?.focus();
  }
  /** Select a value in a list, and add it if it is not one of the options. */
  const listed = (list, value) => {
    list.querySelector(".odd")?.remove();
    if (![...list.options].some((one) => one.value === value)) list.append(make("option", { value, textContent: value || "its own", className: "odd" }));
    list.value = value;
  };
  const choice = (names, value) => {
    const all = names.includes(value) ? names : [...names, value];
    return all.map((name) => make("option", { value: name, textContent: name || "either", selected: name === value }));
  };
  function subtiles(told) {
    const { starts, chosen } = told.subtiles, [mn, k] = told.mma, focused = document.activeElement?.dataset?.subtile;
    $("subtiles").replaceChildren(make("caption", { className: "hide", textContent: `Rows: subtiles along ${told.names[0]}; columns: along ${told.names[1]}` }), make("tbody", {}, ...starts.map((row, i) => make("tr", {}, ...row.map((start, j) => make("td", {}, make("button", { type: "button", textContent: String(start), "aria-pressed": String(i === chosen[0] && j === chosen[1]), "data-subtile": `${i},${j}`, "aria-label": `subtile (${i},${j}) starts at ${start}`, on: { click: () => { state.cell = `${i * mn},${j * k}`; refresh("cell"); } } })))))));
    if (focused) $("subtiles").querySelector(`[data-subtile="${CSS.escape(focused)}"]`)?.focus();
    if (!starts.length) $("subtiles").replaceChildren(make("caption", { textContent: "too many to list" }));
  }
  function stage() {
    const found = shown.stage;
    if (!found) return;
    if (found.error) { $("stagetitle").textContent = TABS[state.tab]; $("svg").replaceChildren(make("p", { className: "verdict bad", textContent: found.error.message })); $("marks").replaceChildren(); lastSvg = null; $("inset").replaceChildren(); $("said").textContent = ""; $("astext").querySelector("pre").textContent = ""; return; }
    if (found.svg !== lastSvg) { draw($("svg"), found.svg); lastSvg = found.svg; }
    draw($("inset"), found.inset);
    $("stagetitle").textContent = found.title;
    $("said").textContent = found.said;
    $("scroll").setAttribute("aria-label", `${found.title}. ${TABS[state.tab]}`);
    $("astext").querySelector("pre").textContent = found.text;
    marks();
  }
  const draw = (node, svg) => { node.innerHTML = svg; };
  const SVG = "http://www.w3.org/2000/svg";
  function frame(box, role) {
    const node = document.createElementNS(SVG, "rect");
    for (const key of ["x", "y", "width", "height"]) node.setAttribute(key, box[key]);
    node.setAttribute("class", role);
    return node;
  }
  const framed = (all) => all.flatMap((mark) => [frame(mark, "casing"), frame(mark, mark.role)]);
  function marks(hover = null) {
    const found = shown.stage, at = $("marks");
    if (!found?.svg) return;
    at.setAttribute("viewBox", `0 0 ${found.width} ${found.height}`);
    const lit = lights(), arrows = lit.filter((one) => one.localName === "polyline");
    const boxes = [...lit, ...framed(found.marks), ...arrows];
    if (hover) boxes.push(frame(hover, "hover"));
    at.replaceChildren(...boxes);
    $("canvas").style.setProperty("--w", found.width);
    $("canvas").style.setProperty("--h", found.height);
    if (!hover) keepInView(found);
  }
  /** Scroll to the chosen element if the picture is wider than its panel, as on a phone. */
  function keepInView({ width, marks: [...all] }) {
    const room = $("scroll"), is = (one) => one.role === "cell", mark = shown.edited?.ok === false ? all.find(is) : all.findLast(is), scale = $("canvas").clientWidth / width;
    if (!mark || room.scrollWidth <= room.clientWidth || String(mark.x) === room.dataset.at) return;
    room.dataset.at = String(mark.x);
    const x = mark.x * scale;
    if (x < room.scrollLeft || x > room.scrollLeft + room.clientWidth - 24) room.scrollLeft = x - room.clientWidth / 4;
  }

  // ---- pointing at an item highlights its elements in the picture, and pointing at an element highlights its items ----
  const hint = $("lit").textContent;
  let pointed = null, focused = null, hovered = null;
  const chosen = () => shown.inspector?.cell ?? null;
  const corner = () => shown.told.subtiles.chosen.map((one, i) => one * shown.told.mma[i]);
  /** The elements that belong to an item of the page: blocks of elements, the ends of an arrow, and a sentence. */
  function meant(node) {
    const links = shown.links, told = shown.told;
    if (!links?.fields || !told || !chosen()) return null;
    if (node.dataset.mode) {
      const mode = links.steps[Number(node.dataset.step)]?.[Number(node.dataset.mode)];
      return mode && { blocks: walkOf(mode, chosen()), said: `${mode.said}; from element (${chosen().join(",")})` };
    }
    if (node.dataset.subtile) {
      const at = node.dataset.subtile.split(",").map((one, i) => Number(one) * told.mma[i]);
      return { blocks: [[...at, ...told.mma]], said: node.getAttribute("aria-label") };
    }
    const field = links.fields[node.dataset.row], at = corner();
    if (!field || links.word !== told.word) return null;
    const blocks = field.boxes.map(([, row, column, ...size]) => [at[0] + row, at[1] + column, ...size]);
    const first = field.boxes.findIndex(([count, row, column]) => count === 1 && row + column > 0);
    return { blocks, said: field.said, from: first < 0 ? null : [...at, ...blocks[first].slice(2)], to: blocks[first] };
  }
  function lights() {
    const node = pointed?.isConnected ? pointed : focused?.isConnected ? focused : null, found = node && meant(node);
    if (!found) return [];
    const piece = shown.links.piece, boxes = placesOf(shown.stage, found.blocks, piece).map((box) => frame(box, "lit"));
    const ends = found.from ? [found.from, found.to].map((one) => placesOf({ grids: shown.stage.grids.slice(0, 1) }, [one], piece)[0]) : [];
    if (ends.length && ends.every(Boolean) && !shown.stage.grids[0].cells) boxes.push(...arrow(...ends));
    return boxes;
  }
  function arrow(from, to) {
    const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2], [a, b] = [middle(from), middle(to)];
    const long = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, [dx, dy] = [(b[0] - a[0]) / long, (b[1] - a[1]) / long], head = Math.min(9, long / 2);
    const line = (...points) => { const node = document.createElementNS(SVG, "polyline"); node.setAttribute("points", points.map((one) => one.join(",")).join(" ")); node.setAttribute("class", "arrow"); return node; };
    const barb = (side) => [b[0] - head * (dx + side * dy * 0.6), b[1] - head * (dy - side * dx * 0.6)];
    return [line(a, b), line(barb(1), b, barb(-1))];
  }
  /** Highlight the elements of the item, and describe them. */
  function point() {
    const node = pointed ?? focused, found = node && meant(node);
    $("lit").textContent = found ? found.said : hint;
    marks();
  }
  const PARTS = "[data-row],[data-mode],[data-subtile]";
  $("side").addEventListener("pointerover", (event) => { const node = event.pointerType === "mouse" ? event.target.closest(PARTS) : null; if (node !== pointed) { pointed = node; point(); } });
  $("side").addEventListener("pointerleave", () => { pointed = null; point(); });
  $("side").addEventListener("focusin", (event) => { focused = event.target.closest(PARTS); point(); });
  $("side").addEventListener("focusout", () => { focused = null; point(); });
  /** Highlight the items that belong to the element under the pointer, or to the chosen one: digits, fields, subtile. */
  function concern() {
    const links = shown.links, told = shown.told, cell = hovered ?? chosen();
    if (!links?.fields || !told || !cell) return;
    for (const node of $("steps").querySelectorAll("[data-mode]")) {
      const mode = links.steps[Number(node.dataset.step)]?.[Number(node.dataset.mode)];
      if (!mode) continue;
      const digit = digitOf(mode, cell);
      node.lastChild.textContent = String(digit);
      node.classList.toggle("on", digit > 0);
      node.title = `${mode.said}; element (${cell.join(",")}) is at position ${digit}`;
    }
    const at = corner();
    for (const node of $("fields").querySelectorAll("[data-row]")) {
      const field = links.fields[node.dataset.row], count = field && links.word === told.word ? countOf(field, at, told.mma, cell) : 0;
      node.classList.toggle("on", count > 0);
      node.querySelector(".count").textContent = count > 1 ? `×${count}` : "";
    }
    for (const node of $("subtiles").querySelectorAll("[data-subtile]")) {
      node.classList.toggle("on", node.dataset.subtile === cell.map((one, i) => Math.floor(one / told.mma[i])).join(","));
    }
  }
  function links() {
    const steps = shown.links?.steps;
    if (!steps) return;
    for (const row of $("steps").querySelectorAll(".modes")) {
      const modes = steps[Number(row.dataset.step)] ?? [], kept = document.activeElement?.dataset ?? {};
      row.replaceChildren(...modes.map((mode, number) => make("button", { type: "button", "data-mode": String(number), "data-step": row.dataset.step }, `${mode.name} ${mode.text} `, make("b", {}))));
      if (kept.mode && kept.step === row.dataset.step) row.children[Number(kept.mode)]?.focus();
    }
    concern();
  }
  function inspector() {
    const found = shown.inspector;
    if (!found || found.error) { $("facts").replaceChildren(); if (found?.error) problem(found.error.message); return; }
    $("cell").value = found.cell.join(",");
    const row = (label, cells) => make("tr", {}, make("th", { scope: "row", textContent: label }), ...cells);
    const bits = [...found.kinds].map((kind, i, all) => { const bit = all.length - 1 - i; return { bit, kind, before: found.before >> bit & 1, after: found.after >> bit & 1 }; });
    const bit = (one, when) => make("td", { textContent: String(one[when]), className: `${one.kind} ${when === "after" && one.before !== one.after ? "turned" : ""}` });
    const caption = $("bits").querySelector("caption");
    $("bits").replaceChildren(caption, make("tbody", {},
      row("bit", bits.map((one) => make("th", { scope: "col", textContent: String(one.bit) }))),
      row("is", bits.map((one) => make("td", { textContent: { Y: "Y", Z: "Z", b: "b", ".": "·" }[one.kind], className: one.kind }))),
      row("before", bits.map((one) => bit(one, "before"))),
      row("after", bits.map((one) => bit(one, "after")))));
    $("formula").textContent = found.formula;
    $("general").textContent = found.general;
    $("facts").replaceChildren(...found.facts.flatMap(([name, value]) => [make("dt", { textContent: name }), make("dd", { textContent: value })]));
    concern();
    $("picked").textContent = `element (${found.cell.join(",")}): byte ${found.after} (0x${found.after.toString(16)}), line ${found.line}, bank ${found.bank}, subtile (${found.subtile.join(",")})`;
  }
  function edited() {
    const found = shown.edited, at = $("edited");
    if (!found || found.error) { at.replaceChildren(); return; }
    at.replaceChildren(make("pre", { tabIndex: 0, textContent: found.text, "aria-label": "the comparison" }));
    if (shown.told?.fields && found.fields) { $("word").value = found.word; fields(found.fields, shown.told.fields); }
  }
  function pasted() {
    const found = shown.pasted, at = $("pasted");
    $("told").hidden = !found;
    $("use").hidden = !found?.use;
    badge();
    $("untell").textContent = alone() ? "back to the tile" : "close";
    if (!found) { at.replaceChildren(); return; }
    if (found.error) { at.replaceChildren(make("p", { className: "verdict bad", textContent: found.error.message })); return; }
    const all = make("details", { open: !found.ok || (!found.use && !found.picture) }, make("summary", { className: found.picture ? "" : `verdict ${found.ok ? "good" : "bad"}`, textContent: found.picture ? "details" : found.kind }), make("pre", { tabIndex: 0, textContent: found.text, "aria-label": "explanation of the pasted text" }));
    at.replaceChildren(...(found.picture ? [drawing(found)] : []), all);
  }
  /** A swizzle, layout or tiled copy without an operand: its options, its picture, the chosen unit. */
  function drawing({ picture, drawing: set, facts }) {
    const again = (key, value) => {
      const kept = key === "swizzle" ? [[key]] : set.controls;  // another swizzle has other tiles
      $("paste").value = [set.notation, ...kept.map(([name, , now]) => `${name}=${name === key ? value : now}`)].filter((one) => !one.endsWith("=")).join(" ");
      tell(true);
    };
    const inputs = set.controls.map(([key, label, value, values]) => {
      const on = { change: (event) => again(key, event.target.value.trim()) };
      return make("label", {}, `${label} `, values.length ? make("select", { on, disabled: frozen }, ...choice(values, value)) : make("input", { value, disabled: frozen, size: Math.max(8, value.length), spellcheck: false, on }));
    });
    const box = document.createElementNS(SVG, "svg"), svg = make("div", {});
    draw(svg, picture.svg);
    box.setAttribute("viewBox", `0 0 ${picture.width} ${picture.height}`);
    box.setAttribute("class", "marks");
    box.append(...framed(picture.marks));
    const canvas = make("div", { className: "canvas", on: { click: (event) => { const found = place(event, picture, box); if (found) again("at", found.at.join(",")); } } }, svg, box);
    canvas.style.setProperty("--w", picture.width);
    return make("div", { className: "drawn" }, make("p", {}, ...inputs), make("p", { className: "quiet", textContent: picture.said }), make("div", { className: "over", tabIndex: 0, role: "region", "aria-label": picture.title }, canvas), make("pre", { tabIndex: 0, textContent: facts, "aria-label": "the chosen unit" }));
  }
  function code() {
    const found = shown.code, chosen = $("language").value;
    $("code").textContent = !found ? "" : found.error ? found.error.message : found[chosen] ?? "";
  }
  function story() {
    const found = shown.story;
    $("story").querySelector("pre").textContent = found?.error ? found.error.message : found ?? "";
  }

  // ---- controls ----
  const named = () => document.querySelectorAll("#controls [name],#looks [name]");
  function fill() {
    for (const control of named()) {
      const value = state[control.name];
      if (control.type === "checkbox" && control.name === "swizzled") control.checked = Boolean(value);
      else if (control.tagName === "SELECT") listed(control, String(value));
      else if (control.type !== "checkbox" && control !== typing) control.value = String(value);
    }
    for (const box of $("levels").querySelectorAll("input")) box.checked = state.levels.split(",").includes(box.value);
    const explicit = Boolean(state.layout.trim());
    for (const name of ["tile", "order"]) document.querySelector(`[name=${name}]`).parentElement.hidden = explicit;
    $("layoutlabel").hidden = $("unitlabel").hidden = $("nolayout").hidden = !explicit;
    $("cell").value = state.cell;
    looks();
  }
  /** Only the controls that the picture has. */
  function looks() {
    const has = (names, one) => names.split(" ").includes(one);
    for (const one of document.querySelectorAll("#looks [data-tabs]")) {
      const { tabs: on, lying } = one.dataset;
      one.hidden = !has(on, state.tab) || (state.tab === "tensor" && lying && !has(lying, state.lying));
    }
  }
  function change(control, mode) {
    const { name } = control;
    let value = control.type === "checkbox" ? control.checked : control.value;
    if (typeof first[name] === "number" && /^-?\d+$/.test(String(value).trim())) value = Number(value);
    const kind = OPERAND.includes(name) || ["base", "stage"].includes(name) ? "all" : "look";
    if (state[name] === value) { if (mode === "push" && (refused || underway === "typing")) soon(kind, "keep"); return; }  // Enter, before the typed value is answered
    const again = typing === control && mode === "typing";
    typing = control;
    state[name] = value;
    if (["tile", "layout"].includes(name)) { state.cell = "0,0"; state.stage = 0; }
    if (OPERAND.includes(name) || name === "base") { state.word = ""; state.edit = {}; }
    if (mode === "typing" && !again) writeHash("push");  // one history entry for everything typed into a control
    soon(kind, mode);
  }
  function tabs() {
    for (const name of Object.keys(TABS)) {
      $(`tab-${name}`).setAttribute("aria-selected", String(state.tab === name));
      $(`tab-${name}`).tabIndex = state.tab === name ? 0 : -1;
    }
    $("panel").setAttribute("aria-labelledby", `tab-${state.tab}`);
    const depth = CLOSER.indexOf(state.tab);
    $("zoomout").disabled = depth < 1;
    $("zoomin").disabled = depth < 0 || depth === CLOSER.length - 1;
    looks();
  }
  /** Replace the whole state; the values in the controls are not kept. */
  function become(other, mode = "push") {
    typing = null;
    state = structuredClone({ ...first, ...other });
    tabs(); refresh("all", mode);
    if (state.paste) tell(); else { shown.pasted = null; pasted(); }
  }
  function choose(name) { state.tab = name; tabs(); refresh("look"); }
  for (const name of Object.keys(TABS)) {
    $(`tab-${name}`).addEventListener("click", () => choose(name));
    $(`tab-${name}`).addEventListener("keydown", turn);
  }
  function turn(event) {
    const names = Object.keys(TABS), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    choose(names[(names.indexOf(state.tab) + step + names.length) % names.length]);
    $(`tab-${state.tab}`).focus();
  }

  // ---- choosing elements ----
  function place(event, found = shown.stage, at = $("marks")) {
    if (!found?.grids) return null;
    const box = at.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * found.width, y = (event.clientY - box.top) / box.height * found.height;
    for (const grid of found.grids) {
      const column = Math.floor((x - grid.x) / grid.width * grid.columns), row = Math.floor((y - grid.y) / grid.height * grid.rows);
      if (row < 0 || column < 0 || row >= grid.rows || column >= grid.columns) continue;
      const place = grid.cells ? grid.cells[row]?.[column] : [grid.origin[0] + row * grid.step[0], grid.origin[1] + column * grid.step[1]];
      if (!place) return null;
      const wide = grid.width / grid.columns, high = grid.height / grid.rows;
      return { at: place, x: grid.x + column * wide, y: grid.y + row * high, width: wide, height: high };
    }
    return null;
  }
  $("scroll").addEventListener("click", (event) => {
    const found = place(event);
    if (found) { state.cell = found.at.join(","); refresh("cell"); }
  });
  $("scroll").addEventListener("dblclick", () => zoom(1));
  const hover = (found) => { const before = String(hovered); hovered = found?.at ?? null; marks(found); if (String(hovered) !== before) concern(); };
  $("scroll").addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") hover(place(event)); });
  $("scroll").addEventListener("pointerleave", () => hover(null));
  $("scroll").addEventListener("keydown", (event) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "+" || event.key === "=") { zoom(1); event.preventDefault(); return; }
    if (event.key === "-") { zoom(-1); event.preventDefault(); return; }
    if (!by || !shown.told || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const size = shown.told.extents, now = state.cell.split(/[, ]+/).map(Number);
    state.cell = now.map((one, i) => Math.min(Math.max(one + by[i] * (event.shiftKey ? 8 : 1), 0), size[i] - 1)).join(",");
    refresh("cell", "keep");
  });
  /** Zoom in or out: the tile, the lines around the element, its atom. Returns false if there is no such level. */
  function zoom(by) {
    const to = CLOSER[CLOSER.indexOf(state.tab) + by];
    if (!CLOSER.includes(state.tab) || !to) return false;
    choose(to);
    return true;
  }
  let turned = 0, last = 0, spread = 0;
  $("scroll").addEventListener("wheel", (event) => {
    if (!event.ctrlKey && (scrollY > 0 || event.deltaX)) return;  // a reader who scrolls the page continues to scroll
    const now = performance.now(), by = event.deltaY < 0 ? 1 : -1;
    if (now - last > 250 || turned * by < 0) turned = 0;
    last = now;
    if (!CLOSER.includes(state.tab) || !CLOSER[CLOSER.indexOf(state.tab) + by]) { if (event.ctrlKey) event.preventDefault(); return; }
    event.preventDefault();
    turned += Math.abs(event.deltaY) * by;
    if (Math.abs(turned) >= (event.ctrlKey ? 20 : 60)) { turned = 0; last = now + 150; zoom(by); }
  }, { passive: false });
  const apart = ({ touches: [a, b] }) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
  $("scroll").addEventListener("touchstart", (event) => { spread = event.touches.length === 2 ? apart(event) : 0; }, { passive: true });
  $("scroll").addEventListener("touchmove", (event) => {
    if (event.touches.length !== 2 || !spread) return;
    event.preventDefault();
    const ratio = apart(event) / spread;
    if (ratio > 1.3 || ratio < 0.77) { spread = apart(event); zoom(ratio > 1 ? 1 : -1); }
  }, { passive: false });
  $("zoomin").addEventListener("click", () => zoom(1));
  $("zoomout").addEventListener("click", () => zoom(-1));

  // ---- the rest of the page ----
  function download(name, type, text) {
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    document.body.append(link); link.click(); link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  $("levels").addEventListener("change", () => { state.levels = [...$("levels").querySelectorAll("input:checked")].map((box) => box.value).join(","); refresh("look"); });
  $("preset").addEventListener("change", (event) => {
    if (event.target.value === "") return;
    become(baked.presets[Number(event.target.value)].question);
    event.target.value = "";
  });
  $("language").addEventListener("change", code);
  $("copycode").addEventListener("click", () => copy($("code").textContent));
  $("copyword").addEventListener("click", () => copy($("headword").textContent));
  $("share").addEventListener("click", () => copy(location.href));
  $("undo").addEventListener("click", () => history.back());
  $("savesvg").addEventListener("click", () => { if (lastSvg) download(`${state.tab}.svg`, "image/svg+xml", lastSvg.replace(/<\/svg>\s*$/, () => `${shown.stage.inset}</svg>`)); });
  $("savepage").addEventListener("click", async () => {
    if (frozen) { download("explorer.html", "text/html", `<!doctype html>\n${document.documentElement.outerHTML}`); return; }
    const found = await ask(small(), "page");
    if (found.html) download("explorer.html", "text/html", found.html); else problem(found.error?.message ?? "no page");
  });
  $("reset").addEventListener("click", () => { state.word = ""; state.edit = {}; refresh("cell"); $("word").focus(); });
  $("nolayout").addEventListener("click", () => { become({ ...state, layout: "", unit: first.unit, major: first.major, swizzle: first.swizzle, mma: first.mma, cell: first.cell, base: first.base }); document.querySelector("[name=tile]").focus(); });
  $("word").addEventListener("change", (event) => { state.word = event.target.value.trim(); state.edit = {}; refresh("cell"); });
  $("cell").addEventListener("change", (event) => { state.cell = event.target.value; refresh("cell"); });
  /** Refuse a text that is too long; a browser could not even show it. */
  function tooLong(text) {
    if (text.length <= baked.longest) return false;
    shown.pasted = { error: { message: `explore: paste has ${text.length} characters, but the maximum is ${baked.longest}` } };
    pasted();
    return true;
  }
  const grow = () => { $("paste").rows = Math.min($("paste").value.split("\n").length, 6); };
  /** Explain the text of the box. A single item that fits is shown in the picture; a descriptor is compared with the tile. */
  async function tell(mine = false) {
    const asked = mine ? $("paste").value : state.paste;
    if (tooLong(asked)) return;
    $("paste").value = asked;
    const found = await ask({ ...small(), paste: asked, want: ["pasted"] }, "answer");
    if (found.frozen) return;
    shown.pasted = found.pasted ?? (found.ok ? null : { error: found.error });
    pasted();
    $("paste").rows = 1;
    if (!mine || !shown.pasted || shown.pasted.error) return;
    if (shown.pasted.use && shown.pasted.ok && !shown.pasted.picture) { take(); if (shown.pasted.kind === "a word") untell(); } else { state.paste = asked; writeHash("push"); }
  }
  const take = () => { typing = null; state = structuredClone({ ...state, paste: "", ...shown.pasted.use }); tabs(); refresh("all"); };
  function untell() { shown.pasted = null; state.paste = ""; pasted(); writeHash("keep"); }
  $("tell").addEventListener("click", () => tell(true));
  $("untell").addEventListener("click", untell);
  for (const event of ["input", "focus"]) $("paste").addEventListener(event, grow);
  $("paste").addEventListener("keydown", (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); tell(true); } });
  $("paste").addEventListener("paste", (event) => {
    if (tooLong(event.clipboardData?.getData("text") ?? "")) event.preventDefault(); else setTimeout(() => tell(true), 0);
  });
  $("use").addEventListener("click", () => { take(); untell(); });
  $("story").addEventListener("toggle", () => { if ($("story").open) { ask({ ...small(), want: ["story"] }).then((found) => { Object.assign(shown, found.ok ? found : {}); story(); }); } });
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  for (const control of named()) {
    control.addEventListener("change", () => change(control, "push"));
    if (control.tagName === "INPUT" && control.type !== "checkbox") control.addEventListener("input", () => change(control, "typing"));
  }
  window.addEventListener("popstate", () => { $("undo").disabled = !history.state?.depth; become(location.hash.length > 1 ? readHash() : baked.question, "keep"); });

  // ---- the first paint needs neither engine nor script: the page contains descriptor, proof and picture ----
  function begin() {
    const asked = readHash(), others = Object.keys(asked).length > 0;
    if (others && !frozen) ["told", "stage", "proof"].forEach((part) => waiting.add(part));
    tabs(); fill();
    show(["told", "stage", "inspector", "proof", "code", "edited", "pasted", "story", "links"]);
    document.documentElement.dataset.painted = String(Math.round(performance.now()));
    if (loading && !others) status(loading);
    if (others) become(asked, "keep");
    else { document.documentElement.removeAttribute("data-pending"); if (baked.engine === "worker") ask({ want: ["told"] }); }
  }
  let begun = false;
  const once = () => { if (!begun) { begun = true; begin(); } };
  new PerformanceObserver((seen) => { if (seen.getEntriesByName("first-contentful-paint").length) once(); }).observe({ type: "paint", buffered: true });
  setTimeout(once, document.hidden ? 0 : 700);  // a hidden page is not painted
})();
