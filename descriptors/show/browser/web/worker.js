// The engine in a worker: Pyodide and the packages as one archive, both beside this file unless its address names others.
// ?answers= names the Python module whose ANSWERS a page may call. Nothing is fetched from other sites.
const given = new URL(import.meta.url).searchParams;
const place = (name, usual) => new URL(given.get(name) ?? usual, import.meta.url).href;

const packages = fetch(place("packages", "packages.zip")).then((found) => {
  if (!found.ok) throw new Error(`the packages could not be loaded: ${found.status}`);
  return found.arrayBuffer();
});
const engine = (async () => {
  const folder = place("pyodide", "pyodide/");
  const { loadPyodide } = await import(`${folder}pyodide.mjs`);
  const python = await loadPyodide({ indexURL: folder });
  python.unpackArchive(await packages, "zip", { extractDir: "/packages" });
  python.globals.set("room", given.get("answers"));
  return python.runPython(`
import sys
sys.path.insert(0, "/packages")
from importlib import import_module
from descriptors.show.browser.reply import reply
answers = import_module(room).ANSWERS
lambda path, text: reply(answers, path, text)
`);
})();
engine.then(() => postMessage({ ready: true }), (error) => postMessage({ ready: false, why: String(error) }));

onmessage = async ({ data }) => {
  const reply = await engine;
  let answer;
  try { answer = JSON.parse(reply(data.path, data.question)); } catch (error) {
    // Python itself ended, for example because its memory is full. The page has to start another worker.
    answer = { ok: false, ended: true, error: { type: "Error", message: `the engine ended: ${String(error).trim().split("\n").at(-1)}` } };
  }
  postMessage({ number: data.number, answer });
};
