/** A worker with the engine: it starts with the first question; `told(ready, why)` hears whether it could. */
function engineIn(address, told) {
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
    try { worker = new Worker(address, { type: "module" }); } catch (error) { told(false, String(error)); return; }
    worker.onmessage = ({ data }) => {
      if (data.ready !== undefined) { told(data.ready, data.why); return; }
      waiting.get(data.number)?.(data.answer);
      waiting.delete(data.number);
      if (data.answer.ended) end("the engine ended");
    };
    worker.onerror = (event) => told(false, event.message || "its worker could not be loaded");
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
