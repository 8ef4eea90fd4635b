// A stand-in for jatos.js, written after its reference (jatos.org/jatos.js-Reference.html): what an exported page uses of it.
// As in jatos.js, requests wait in a queue in memory, one after the other; each is tried again five times and then dropped,
// except that the pause between two tries is 20 ms and not a second. The batch session refuses a change made on an old version.
"use strict";
window.jatos = (() => {
  const HTTP_RETRY = 5;
  const HTTP_RETRY_WAIT = 20;
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  let queue = Promise.resolve();
  let batch = { version: -1, data: {} };
  let busy = false;

  async function request(method, path, body) {
    let said = "";
    for (let tries = 0; tries <= HTTP_RETRY; tries += 1) {
      if (tries > 0) await pause(HTTP_RETRY_WAIT);
      try {
        const answer = await fetch(path, { method, body, headers: { "Content-Type": "text/plain; charset=UTF-8" } });
        if (answer.ok) return;
        said = `${answer.status} ${answer.statusText}`;
        if (answer.status === 413 || answer.status === 400) break;
      } catch (error) {
        said = String(error);
      }
    }
    throw `Error during ${method} ${path}: ${said}`;
  }

  function send(method, path, body) {
    const sent = queue.then(() => request(method, path, body));
    queue = sent.catch(() => {});
    return sent;
  }

  async function patch(op, path, value) {
    if (busy) throw "Can send only one batch session patch at a time.";
    busy = true;
    const { version } = batch;
    const answer = await fetch("batch", { method: "POST", body: JSON.stringify({ op, path, value, version }) }).finally(() => (busy = false));
    const now = await answer.json();
    if (answer.ok) {
      batch = now;
      return;
    }
    setTimeout(() => (batch = now), 30); // the newer session comes by the channel
    throw `Session patch ${op} ${path} failed`;
  }

  const ready = fetch("batch").then(async (answer) => (batch = await answer.json()));
  return {
    studyResultId: location.pathname.split("/").at(-2),
    urlQueryParameters: Object.fromEntries(new URLSearchParams(location.search)),
    onLoad: (callback) => void ready.then(callback),
    appendResultData: (data) => send("POST", "resultData", data),
    submitResultData: (data) => send("PUT", "resultData", data),
    endStudyWithoutRedirect: (successful) => send("POST", "end", String(successful)),
    abortStudyWithoutRedirect: (message) => send("POST", "abort", message),
    batchSession: {
      get: (name) => structuredClone(batch.data[name]),
      set: (name, value) => patch("add", `/${name}`, value),
      add: (path, value) => patch("add", path, value),
      remove: (path) => patch("remove", path),
    },
  };
})();
