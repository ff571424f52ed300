/** A worker with the engine, which starts with the first question; `report(ready, why)` is called when it starts or fails. */
function engineIn(address, report) {
  const waiting = new Map();
  let worker = null, number = 0;
  const end = (message) => {
    worker?.terminate();
    worker = null;
    for (const done of waiting.values()) done({ ok: false, ended: true, error: { type: "Error", message } });
    waiting.clear();
  };
  const start = () => {
    if (worker) return;
    try { worker = new Worker(address, { type: "module" }); } catch (error) { report(false, String(error)); return; }
    worker.onmessage = ({ data }) => {
      if (data.ready !== undefined) { report(data.ready, data.why); return; }
      waiting.get(data.number)?.(data.answer);
      waiting.delete(data.number);
      if (data.answer.ended) end("the engine ended");
    };
    worker.onerror = (event) => report(false, event.message || "its worker could not be loaded");
  };
  const ask = (question, path = "answer") => {
    start();
    return new Promise((done) => {
      if (!worker) { done({ ok: false, error: { type: "Error", message: "the engine did not start" } }); return; }
      waiting.set(++number, done);
      worker.postMessage({ number, path, question: JSON.stringify(question) });
    });
  };
  return { start, ask, stop: () => end("stopped") };
}
