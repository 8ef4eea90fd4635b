
// Everything a participant reads and does, in the order of chunk_includes/trials.csv, which was drawn beforehand: do not shuffle it.
{
  const texts = STUDY.texts;
  const shown = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const paragraphs = (text) => text.split("\n\n").map((part) => `<p>${shown(part)}</p>`).join("");
  const here = (text) => `<div lang="${STUDY.language}" dir="${STUDY.direction}" style="max-width: 40em; text-align: start">${text}</div>`;
  // The cells of trials.csv are escaped where a comma or a quote would mislead PCIbex; ~ joins words that have no space between them.
  const cell = decodeURIComponent;
  const words = (sentence) => sentence.split(/[ ~]/).map(cell);
  const whole = (sentence) => cell(sentence.replace(/~/g, ""));

  const show = (name, text) => newText(name, here(paragraphs(text))).center().print();
  const untilSpace = (name) => newKey(name, " ").log().wait();
  // Names of elements stand in selectors: letters and _ alone.
  const screen = (name, text) => [show(name, text), untilSpace(`read_${name}`), getText(name).remove()];

  const pause = (row) => (row.break_before === "1" ? screen("break", `${texts.break}\n\n${texts.continue}`) : []);
  const context = (row) => (row.context ? screen("context", cell(row.context)) : []);

  const sentences = (row) =>
    [row.sentence_1, row.sentence_2].filter((sentence) => sentence).map((sentence, n) => {
      const which = row.sentence_2 ? `sentence_${n + 1}` : "sentence";
      if (row.presentation === "with_task") return show(which, (row.sentence_2 ? `${n + 1}. ` : "") + whole(sentence));
      if (row.presentation === "whole") return screen(which, whole(sentence));
      return newController(which, "DashedSentence", {
        s: words(sentence),
        mode: "self-paced reading",
        display: row.presentation === "centred" ? "in place" : "dashed",
        blankText: "+",
        hideUnderscores: false,
      }).center().print().log().wait().remove();
    });

  // One row of buttons, each with its key, under what is asked. The first answer counts: keys of a task that is over are
  // still listened to until the trial ends.
  const buttons = (name, prompt, hint, answers, keys) => [
    show(`prompt_${name}`, prompt),
    show(`hint_${name}`, hint),
    newScale(name, ...answers).button().keys(...keys).center().print().log("first").wait(),
  ];
  const done = (name) => [getText(`prompt_${name}`).remove(), getText(`hint_${name}`).remove(), getScale(name).remove()];
  const keyed = (answers, keys) => answers.map((answer, n) => `${keys[n]}: ${answer}`).join(" \u00a0 ");
  const keysFor = (answers) => (answers.length === 2 ? ["F", "J"] : answers.map((_, n) => String(n + 1)));

  const feedback = (name, answer) => [
    newText("feedback", here(paragraphs(`${texts.wrong.replace("{answer}", () => answer)}\n\n${texts.continue}`))),
    getScale(name).test.selected(answer).success(getText("feedback").text(here(paragraphs(`${texts.right}\n\n${texts.continue}`)))),
    getText("feedback").center().print(),
    untilSpace("read_feedback"),
    getText("feedback").remove(),
  ];
  const question = (row) => {
    const answers = row.choices.split(" ").map(cell);
    const keys = keysFor(answers), name = "question";
    return [
      buttons(name, cell(row.question), keyed(answers, keys), answers, keys),
      done(name),
      row.answer ? feedback(name, cell(row.answer)) : [],
    ];
  };

  const rating = () => {
    const scale = STUDY.rating, name = "rating";
    if (scale.kind === "slider") {
      return [
        show(`prompt_${name}`, scale.prompt),
        show(`hint_${name}`, `0: ${scale.low} \u00a0 100: ${scale.high}`),
        newScale(name, 101).slider().size("30em", "2em").center().print().log("last"),
        newButton("go_on", texts.go_on).center().print().wait(getScale(name).test.selected()),
        getButton("go_on").remove(),
        done(name),
      ];
    }
    if (scale.kind === "yes_no") {
      const answers = [texts.yes, texts.no];
      return [buttons(name, scale.prompt, keyed(answers, ["F", "J"]), answers, ["F", "J"]), done(name)];
    }
    const points = Array.from({ length: scale.points }, (_, n) => String(n + 1));
    const ends = `1: ${scale.low} \u00a0 ${scale.points}: ${scale.high}`;
    return [buttons(name, scale.prompt, ends, points, points), done(name)];
  };

  const choice = () => {
    const name = "choice";
    return [buttons(name, STUDY.choice.prompt, "1 \u00a0 2", ["1", "2"], ["1", "2"]), done(name)];
  };

  const ask = { question, rating, choice };
  const tasks = (row) => row.tasks.split(" ").filter((task) => task).map((task) => ask[task](row));
  const leave = (row) =>
    row.presentation !== "with_task" ? [] : (row.sentence_2 ? ["sentence_1", "sentence_2"] : ["sentence"]).map((name) => getText(name).remove());

  // Who takes part, as the address of the experiment says it.
  const participant = GetURLParameter("PROLIFIC_PID") || GetURLParameter("survey_code") || GetURLParameter("participant") || "";

  Sequence("counter", "consent", "instructions", "trial", ...(STUDY.about ? ["about"] : []), SendResults().setOption("noPrompt", true), "completion");
  SetCounter("counter", "inc", 1);

  newTrial("consent",
    newHtml("consent", "consent.html").center().print(),
    newButton("accept", texts.consent_accept).center().print().log().wait());

  newTrial("instructions",
    STUDY.instructions.map((page, n) => [
      newHtml(`page_${n}`, page).center().print(),
      newButton(`next_${n}`, texts.go_on).center().print().wait(),
      getHtml(`page_${n}`).remove(),
      getButton(`next_${n}`).remove(),
    ]));

  Template("trials.csv", (row) =>
    newTrial("trial", pause(row), context(row), sentences(row), tasks(row), leave(row))
      .log("study", STUDY.name)
      .log("version", row.version)
      .log("version_sha256", STUDY.versions[row.version].sha256)
      .log("seed", STUDY.versions[row.version].seed)
      .log("slot", row.slot)
      .log("trial", row.trial)
      .log("of", row.of)
      .log("role", row.role)
      .log("item", cell(row.item))
      .log("condition", cell(row.condition))
      .log("rating_name", STUDY.rating ? STUDY.rating.name : "")
      .log("rating_kind", STUDY.rating ? STUDY.rating.kind : "")
      .log("choice_name", STUDY.choice.name)
      .log("yes", STUDY.rating && STUDY.rating.kind === "yes_no" ? texts.yes : "")
      .log("participant", participant));

  if (STUDY.about) {
    newTrial("about",
      newHtml("about", "about.html").center().inputWarning(texts.needed).radioWarning(texts.needed).print().log(),
      newButton("done", texts.go_on).center().print().wait(getHtml("about").test.complete().failure(getHtml("about").warn())));
  }

  newTrial("completion",
    show("debriefing", texts.debriefing),
    STUDY.completion.code ? show("code", `${texts.completion} ${STUDY.completion.code}`) : [],
    STUDY.completion.url
      ? newText("link", here(`<p><a href="${encodeURI(STUDY.completion.url)}">${shown(texts.return_link)}</a></p>`)).center().print()
      : [],
    newButton("never").wait()).setOption("countsForProgressBar", false);
}
