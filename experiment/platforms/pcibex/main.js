
// Everything a participant reads and does, in the order of chunk_includes/trials.csv, which was drawn beforehand: do not shuffle it.
{
  const texts = STUDY.texts;
  const shown = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const paragraphs = (text) => text.split("\n\n").map((part) => `<p>${shown(part)}</p>`).join("");
  const here = (text) => `<div lang="${STUDY.language}" dir="${STUDY.direction}" style="max-width: 40em; text-align: start">${text}</div>`;

  // Names of elements stand in selectors: letters, digits and _ alone.
  const show = (name, text) => newText(name, here(paragraphs(text))).center().print();
  const untilSpace = (name, text) => [show(name, text), newKey(`read_${name}`, " ").log().wait(), getText(name).remove()];
  const together = (...parts) => parts.filter((part) => part).join("\n\n");
  const numbered = (values) => values.map((_, n) => String(n + 1));

  // What is asked stands between its prompt and a hint; ends are those of a scale, keys those of its answers.
  const above = ({ id, prompt, above }) => [
    above.kind === "nothing" ? [] : show(`above_${id}`, above.text),
    prompt ? show(`prompt_${id}`, prompt) : [],
  ];
  const aboveOver = ({ id, prompt, above }) => [
    above.kind === "nothing" ? [] : getText(`above_${id}`).remove(),
    prompt ? getText(`prompt_${id}`).remove() : [],
  ];
  // The first answer counts, and with a deadline none after it: keys of a scale that is over are still listened to until the trial ends.
  const answered = ({ id, deadline }, scale) =>
    deadline === null
      ? scale.wait()
      : [
          newTimer(`time_${id}`, deadline).log(),
          scale.callback(getTimer(`time_${id}`).stop()),
          getTimer(`time_${id}`).start().wait(),
          getScale(id).disable(),
        ];
  const buttons = (screen, hint, labels, keys) => [
    above(screen),
    hint ? show(`hint_${screen.id}`, hint) : [],
    answered(screen, newScale(screen.id, ...labels).button().keys(...keys).center().print().log("first")),
    aboveOver(screen),
    hint ? getText(`hint_${screen.id}`).remove() : [],
    getScale(screen.id).remove(),
  ];
  const ends = (low, least, high, most) => [low && `${least}: ${low}`, high && `${most}: ${high}`].filter((end) => end).join(" \u00a0 ");
  // A slider and a typed answer are ended by a button, whose press is when the answer came.
  const goOn = (id, label, test) => [newButton(`done_${id}`, label).center().print().log().wait(test), getButton(`done_${id}`).remove()];

  const kinds = {
    text: ({ id, heading, paragraphs, buttons }) => untilSpace(id, together(heading, ...paragraphs, ...buttons.map(({ label }) => label))),
    whole: ({ id, text, hint }) => untilSpace(id, together(text, hint)),
    words: ({ id, words, arrangement }) =>
      newController(id, "DashedSentence", {
        s: words,
        mode: "self-paced reading",
        display: arrangement === "centred" ? "in place" : "dashed",
        blankText: "+",
        hideUnderscores: false,
      }).center().print().log().wait().remove(),
    points: (screen) => {
      const labels = screen.answers.map(({ label }) => label);
      return buttons(screen, ends(screen.low, labels[0], screen.high, labels.at(-1)), labels, numbered(labels));
    },
    row: (screen) => {
      const labels = screen.answers.map(({ label }) => label);
      const keys = labels.length === 2 ? ["F", "J"] : numbered(labels);
      return buttons(screen, labels.map((label, n) => `${keys[n]}: ${label}`).join(" \u00a0 "), labels, keys);
    },
    pair: (screen) => {
      const name = (n) => `answer_${n + 1}_${screen.id}`;
      return [
        screen.answers.map(({ label }, n) => show(name(n), `${n + 1}. ${label}`)),
        buttons(screen, "", ["1", "2"], ["1", "2"]),
        screen.answers.map((_, n) => getText(name(n)).remove()),
      ];
    },
    slider: (screen) => [
      above(screen),
      show(`hint_${screen.id}`, ends(screen.low, screen.least, screen.high, screen.most)),
      newScale(screen.id, screen.most - screen.least + 1).slider().size("30em", "2em").center().print().log("last"),
      goOn(screen.id, screen.button, getScale(screen.id).test.selected()),
      aboveOver(screen),
      getText(`hint_${screen.id}`).remove(),
      getScale(screen.id).remove(),
    ],
    entry: (screen) => [
      above(screen),
      newTextInput(screen.id, "").lines(1).length(screen.longest).center().print().log("final"),
      goOn(screen.id, screen.button, getTextInput(screen.id).test.text(/\S/)),
      aboveOver(screen),
      getTextInput(screen.id).remove(),
    ],
  };

  // Some screens are shown after some answers alone: right or wrong ones, any where none is right, or where none came in time.
  const labelled = ({ kind, answers }, value) => {
    const nth = answers.findIndex((one) => one.value === value);
    return kind === "pair" ? String(nth + 1) : answers[nth].label;
  };
  const play = (screens) =>
    screens.map((screen) => {
      const commands = kinds[screen.kind](screen);
      if (!screen.after) return commands;
      const { id, outcomes } = screen.after;
      const asked = screens.find((other) => other.id === id);
      const [first, ...others] = asked.right.map((value) => labelled(asked, value));
      const right = () => others.reduce((test, label) => test.or(getScale(id).test.selected(label)), getScale(id).test.selected(first));
      const given = () => getScale(id).test.selected();
      const ends = asked.right.length ? ["right", "wrong", "timeout"] : ["answered", "timeout"];
      const after = ends.filter((outcome) => outcomes.includes(outcome)).join(" ");
      const led = {
        right: () => right().success(commands),
        wrong: () => right().failure(given().success(commands)),
        timeout: () => given().failure(commands),
        answered: () => given().success(commands),
        "right wrong": () => given().success(commands),
        "right timeout": () => right().success(commands).failure(given().failure(commands)),
        "wrong timeout": () => right().failure(commands),
        "right wrong timeout": () => commands,
        "answered timeout": () => commands,
        "": () => [],
      };
      return led[after]();
    });

  // Who takes part, as the address of the experiment says it.
  const participant = GetURLParameter("PROLIFIC_PID") || GetURLParameter("survey_code") || GetURLParameter("participant") || "";

  Sequence(
    "counter", ...(STUDY.accept === null ? [] : ["consent"]), "instructions", "trial", ...(STUDY.about === null ? [] : ["about"]),
    SendResults().setOption("noPrompt", true), "ending",
  );
  SetCounter("counter", "inc", 1);

  if (STUDY.accept !== null) {
    newTrial("consent",
      newHtml("consent", "consent.html").center().print(),
      newButton("accept", STUDY.accept).center().print().log().wait());
  }

  newTrial("instructions",
    STUDY.instructions.map((page, n) => [
      newHtml(`page_${n}`, page).center().print(),
      newButton(`next_${n}`, texts.go_on).center().print().wait(),
      getHtml(`page_${n}`).remove(),
      getButton(`next_${n}`).remove(),
    ]));

  Template("trials.csv", (row) => {
    const list = STUDY.lists[row.list_name];
    const { labels, screens } = list.steps[Number(row.step)];
    const made = newTrial("trial", play(screens));
    if (labels === null) return made;
    const columns = {
      study: STUDY.name,
      list_name: row.list_name,
      list_sha256: list.sha256,
      seed: list.seed,
      slot: row.slot,
      trial: row.trial,
      of: row.of,
      ...labels,
      participant,
    };
    for (const { log } of screens) Object.assign(columns, log);
    return Object.entries(columns).reduce((trial, [name, value]) => trial.log(name, value), made);
  });

  if (STUDY.about !== null) {
    newTrial("about",
      newHtml("about", "about.html").center().inputWarning(STUDY.about).radioWarning(STUDY.about).print().log(),
      newButton("done", texts.go_on).center().print().wait(getHtml("about").test.complete().failure(getHtml("about").warn())));
  }

  newTrial("ending",
    show("debriefing", texts.debriefing),
    STUDY.ending.code ? show("code", `${texts.your_code} ${STUDY.ending.code}`) : [],
    STUDY.ending.url
      ? newText("link", here(`<p><a href="${encodeURI(STUDY.ending.url)}">${shown(texts.return_link)}</a></p>`)).center().print()
      : [],
    newButton("never").wait()).setOption("countsForProgressBar", false);
}
