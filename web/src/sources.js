// Where the playground's motions come from: `asked(values, signal)` gives lines, of which the last is the result.

/** The library itself, behind POST /run. */
export function server(token) {
  const headers = { "Content-Type": "application/json", "X-Polhode-Token": token };
  return async function* asked(values, signal) {
    const reply = await fetch("/run", { method: "POST", headers, body: JSON.stringify(values), signal }).catch((error) => {
      // what fetch calls a server that is not there
      throw error instanceof TypeError ? new Error("The playground has stopped; start it again with `polhode play`.") : error;
    });
    if (!reply.ok) throw new Error(await reply.text());
    let last = null;
    for await (const line of lines(reply.body)) yield (last = line);
    if (!last || last.state) throw new Error("The computation failed; the terminal shows the reason.");
  };
}

/** The library's methods in JavaScript, in a worker with this script. */
export function local(script, catalogue) {
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" }))),
    waiting = new Map();
  let count = 0,
    failed = null;
  worker.postMessage({ catalogue });
  worker.onmessage = ({ data }) => waiting.get(data.id)?.({ line: data.line });
  worker.onerror = ({ message }) => {
    failed = new Error(`The computation failed: ${message ?? "its script cannot be started"}.`);
    for (const hear of waiting.values()) hear({ error: failed });
  };
  return async function* asked(values, signal) {
    if (failed) throw failed;
    const id = (count += 1),
      heard = [];
    let wake = () => {};
    waiting.set(id, (one) => {
      heard.push(one);
      wake();
    });
    signal.addEventListener("abort", () => wake());
    worker.postMessage({ id, asked: values });
    try {
      for (;;) {
        if (!heard.length) await new Promise((go) => (wake = go));
        if (signal.aborted) return;
        const { line, error } = heard.shift();
        if (error) throw error;
        yield line;
        if (!line.state) return;
      }
    } finally {
      waiting.delete(id);
    }
  };
}

/** The lines of JSON in a stream. */
async function* lines(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (text + value).split("\n");
    text = parts.pop();
    for (const part of parts) yield JSON.parse(part);
  }
}
