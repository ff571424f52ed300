// Run the doctests of both packages inside Pyodide under Node; the outcome is one line of JSON on standard output.
// usage: node doctests.mjs FOLDER_OF_PYODIDE ROOT_OF_THE_PROJECT [PACKAGE, MODULE OR FUNCTION...]
import { pathToFileURL } from "node:url";

const [folder, root, ...only] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: `${folder}/` });
python.mountNodeFS("/project", root);
python.globals.set("only", python.toPy(only));
console.log(python.runPython(`
import doctest, importlib, json, pathlib, sys
sys.path.insert(0, "/project")
sys.dont_write_bytecode = True
LEFT_OUT = ("cli", "oracle", "server")  # they need click, another process, or threads

class Runner(doctest.DocTestRunner):
    def report_start(self, out, test, example): pass
    def report_success(self, out, test, example, got): pass
    def report_failure(self, out, test, example, got):
        reasons.append(f"{test.name}:{example.lineno}: {example.source.strip()[:80]} gave {got.strip()[:120]}")
    def report_unexpected_exception(self, out, test, example, info):
        reasons.append(f"{test.name}:{example.lineno}: {info[0].__name__}: {str(info[1])[:160]}")

found = {}
for path in sorted([*pathlib.Path("/project/layoutalg").rglob("*.py"), *pathlib.Path("/project/descriptors").rglob("*.py")]):
    parts = path.relative_to("/project").with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    if set(LEFT_OUT) & set(parts) or len(parts) < 3 and parts[-1][:2] == "__" or (len(only) and not any((f"{one}.").startswith(f"{name}.") or name.startswith(f"{one}.") for one in only)):
        continue
    module = importlib.import_module(name)
    runner = Runner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        reasons = []
        if test.examples:
            outcome = runner.run(test, out=lambda text: None)
            found[test.name] = {"examples": outcome.attempted, "reasons": reasons}
json.dumps(found)
`));
