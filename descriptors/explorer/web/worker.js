// The engine in a worker: Pyodide beside this file, the packages as one archive; nothing is fetched from elsewhere.
import { loadPyodide } from "./pyodide/pyodide.mjs";

const packages = fetch(new URL("./packages.zip", import.meta.url)).then((found) => found.arrayBuffer());
const engine = (async () => {
  const python = await loadPyodide({ indexURL: new URL("./pyodide/", import.meta.url).href });
  const packed = await packages;
  python.unpackArchive(packed, "zip", { extractDir: "/packages" });
  return python.runPython(`
import json, sys
sys.path.insert(0, "/packages")
from descriptors.explorer.answer import answer
from descriptors.explorer.page import frozen
def reply(path, text):
    try:
        asked = json.loads(text)
    except (ValueError, RecursionError) as error:
        return json.dumps({"ok": False, "error": {"type": "JSONDecodeError", "message": str(error)}})
    return json.dumps(frozen(asked) if path == "page" else answer(asked))
answer({})
reply
`);
})();
engine.then(() => postMessage({ ready: true }), (error) => postMessage({ ready: false, why: String(error) }));

onmessage = async ({ data }) => {
  const reply = await engine;
  postMessage({ number: data.number, answer: JSON.parse(reply(data.path, data.question)) });
};
