"use strict";
// One pair at a time, by keys alone or by mouse. Everything decided is on the disk before the next pair is shown.

const pass = new URLSearchParams(location.search).get("key") ?? "";
const at = (id) => document.getElementById(id);
const REASONS = ["not grammatical", "not ungrammatical", "does not fit the paradigm", "too like another pair", "odd or offensive"];
let state, position, edited, ticks;
let busy = false; // a decision is on its way to the disk
let held = []; // keys pressed meanwhile, which are meant for the next pair

async function ask(path, body) {
  const answer = await fetch(path, {
    method: body ? "POST" : "GET",
    headers: { "x-key": pass, ...(body && { "content-type": "application/json" }) },
    body: body && JSON.stringify(body),
  });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error);
  return content;
}

const current = () => state.pairs[position];

function make(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  return made;
}

function button(label, pressed, action) {
  const made = make("button", label, { type: "button", "aria-keyshortcuts": pressed });
  made.append(make("kbd", pressed));
  made.addEventListener("click", action);
  return made;
}

function sentence(member) {
  const made = make("p", "", { class: "sentence", dir: "auto", lang: current().language });
  for (const [text, differs] of member.parts) {
    if (!differs) made.append(text);
    else {
      const mark = make("mark");
      mark.append(make("span", " differs: ", { class: "vh" }), text.trimEnd(), make("span", " (end) ", { class: "vh" }));
      made.append(mark, text.slice(text.trimEnd().length));
    }
  }
  return made;
}

function show(focus = true) {
  const pair = current();
  edited = false;
  at("message").textContent = "";
  at("reason").hidden = true;
  const done = state.pairs.filter((one) => one.decision).length;
  at("position").textContent = `${position + 1} of ${state.pairs.length}, ${done} decided`;
  at("progress").max = state.pairs.length;
  at("progress").value = done;
  at("heading").textContent = `${pair.paradigm}: ${pair.number}`;
  at("members").replaceChildren(
    ...pair.members.map((member) => {
      const made = make("div", "", { class: "member" });
      made.append(make("span", member.what, { class: `what ${member.kind}` }), sentence(member));
      return made;
    }),
    ...pair.others.map((other) => make("p", other, { class: "other", dir: "auto" })),
  );
  at("findings").textContent = pair.findings ? `Found beforehand: ${pair.findings}` : "";
  at("stands").textContent = pair.decision ? `Decided: ${pair.decision}` : "";
  ticks = pair.ticks ?? {};
  at("ticks").hidden = state.blind;
  at("ticks").replaceChildren(make("legend", "What holds"), ...state.ticks.map(tick));
  at("acts").replaceChildren(
    ...(state.blind
      ? [button("acceptable", "y", () => decide("acceptable")), button("not acceptable", "n", () => decide("unacceptable"))]
      : [button("accept", "a", () => decide("accept")), button("edit", "e", edit), button("drop", "d", drop)]),
    button("undo", "u", undo),
    button("back", "←", () => move(-1)),
    button("on", "→", () => move(1)),
  );
  if (focus) at("heading").focus();
}

function tick([name, text], k) {
  const label = make("label", "", { class: "tick" });
  const box = make("input", "", { type: "checkbox", "aria-keyshortcuts": `${k + 1}`, id: `tick-${name}` });
  box.checked = Boolean(ticks[name]);
  box.addEventListener("change", () => (ticks[name] = box.checked));
  label.append(box, text, make("kbd", `${k + 1}`));
  return label;
}

function toggle(k) {
  const entry = state.ticks[k];
  if (!entry) return;
  const box = at(`tick-${entry[0]}`);
  box.checked = !box.checked;
  ticks[entry[0]] = box.checked;
  at("message").textContent = "";
  at("heard").textContent = `${entry[1]}: ${box.checked ? "yes" : "no"}`;
}

function edit() {
  if (edited) return;
  edited = true;
  const fields = current().members.map((member) => {
    const made = make("div", "", { class: "member" });
    const field = make("textarea", "", { id: `text-${member.condition}`, rows: "2", dir: "auto", lang: current().language, spellcheck: "true" });
    field.value = member.text;
    made.append(make("label", member.what, { for: field.id }), field);
    return made;
  });
  at("members").replaceChildren(...fields);
  at("acts").replaceChildren(button("save the correction", "Ctrl+Enter", correct), button("leave it", "Escape", () => show()));
  fields[0].querySelector("textarea").focus();
}

function correct() {
  const texts = {};
  for (const member of current().members) texts[member.condition] = at(`text-${member.condition}`).value;
  decide("correct", { texts });
}

function drop() {
  at("reason").hidden = false;
  at("reasons").replaceChildren(...REASONS.map((reason, k) => button(reason, `${k + 1}`, () => decide("drop", { reason }))));
  at("reasons").querySelector("button").focus();
}

async function decide(action, more = {}) {
  const pair = current();
  if (action === "accept" && !state.ticks.every(([name]) => ticks[name])) {
    at("message").textContent = "To accept a pair takes all four ticks (keys 1 to 4); otherwise edit or drop it.";
    return;
  }
  await send({ action, item: pair.id, condition: pair.condition, ticks, seen: pair.seen, ...more });
}

async function undo() {
  await send({ action: "undo", item: current().id, condition: current().condition, ticks: {}, seen: current().seen }, true);
}

async function send(body, stay = false) {
  busy = true;
  try {
    state = await ask("decide", body);
  } catch (error) {
    held = [];
    at("message").textContent = error.message;
    return;
  } finally {
    busy = false;
  }
  next(stay);
  const keys = held;
  held = [];
  for (const key of keys) {
    if (busy) held.push(key);
    else if (!edited && document.activeElement !== at("other")) press(key);
  }
}

function next(stay) {
  if (!stay) {
    const open = state.pairs.findIndex((pair, k) => k > position && !pair.decision);
    const first = state.pairs.findIndex((pair) => !pair.decision);
    if (first < 0) return end();
    position = open < 0 ? first : open;
  }
  show();
}

function end() {
  show(false);
  at("position").textContent = `All ${state.pairs.length} are decided.`;
  at("message").textContent = "";
  at("stands").textContent = "All are decided. You can close this page, or go back with ← and change your mind.";
  at("heading").focus();
}

function move(step) {
  position = Math.min(Math.max(position + step, 0), state.pairs.length - 1);
  show();
}

document.addEventListener("keydown", (event) => {
  const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.repeat);
  if (busy) {
    if (plain) held.push(event.key);
    event.preventDefault();
    return;
  }
  if (event.key === "Escape") {
    show();
    return;
  }
  if (edited) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      correct();
    }
    return;
  }
  if (event.target === at("other")) return;
  if (plain && press(event.key)) event.preventDefault();
});

// Does what a key stands for; whether it stands for anything.
function press(key) {
  const dropping = !at("reason").hidden;
  const digit = Number(key);
  const acts = state.blind
    ? { y: () => decide("acceptable"), n: () => decide("unacceptable"), u: undo }
    : { a: () => decide("accept"), e: edit, d: drop, u: undo };
  const moves = { ArrowLeft: () => move(-1), ArrowRight: () => move(1) };
  if (dropping && digit >= 1 && digit <= REASONS.length) decide("drop", { reason: REASONS[digit - 1] });
  else if (dropping && key === "o") at("other").focus();
  else if (!dropping && digit >= 1 && digit <= 4 && !state.blind) toggle(digit - 1);
  else if (!dropping && acts[key]) acts[key]();
  else if (moves[key]) moves[key]();
  else return false;
  return true;
}

at("reason").addEventListener("submit", (event) => {
  event.preventDefault();
  const reason = at("other").value.trim();
  if (reason) decide("drop", { reason }).then(() => (at("other").value = ""));
});

async function begin() {
  try {
    state = await ask("state");
  } catch (error) {
    at("message").textContent = error.message;
    return;
  }
  document.title = `Review, ${state.reviewer}`;
  at("title").textContent = state.title;
  at("guidelines").innerHTML = state.guidelines; // rendered by us from Markdown, without HTML of its own
  for (const link of at("guidelines").querySelectorAll("a")) link.target = "_blank";
  const keys = state.blind
    ? [["y n", "acceptable, or not"]]
    : [["1 2 3 4", "tick what holds"], ["a", "accept"], ["e", "edit; Ctrl+Enter saves"], ["d", "drop, then 1 to 5, or o for another reason"]];
  for (const [pressed, what] of [...keys, ["u", "take back your last decision about this pair"], ["← →", "go to another pair"], ["Esc", "leave what you began"]]) {
    const term = make("dt");
    term.append(...pressed.split(" ").map((one) => make("kbd", one)));
    at("keys").append(term, make("dd", what));
  }
  if (!state.pairs.length) {
    at("heading").textContent = "There is nothing to decide.";
    at("ticks").hidden = true;
    return;
  }
  position = Math.max(state.pairs.findIndex((pair) => !pair.decision), 0);
  show();
}

begin();
