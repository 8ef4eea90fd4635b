"""A session is a script: trials are expanded to screens once a version, and walked by every player the same way."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gardenpath import study
from gardenpath.stimuli import Trial, Version
from gardenpath.study.screens import (
    JUDGED,
    SKIP,
    Answers,
    Button,
    Entry,
    Event,
    Exit,
    Form,
    Interlude,
    Screen,
    Script,
    Share,
    Slider,
    Step,
    Text,
    Whole,
    WordPairs,
    Words,
)

from .standard_texts import LAB, Texts, direction, texts_of
from .tasks import WITH_TASK, Moment, Tasks, tasks_of

PRACTICE, SCREENER = "practice", "screener"
# What players say outside of screens.
SAID = (
    *(
        "enlarge",
        "no_larger",
        "continue",
        "go_on",
        "interrupted",
        "debriefing",
        "your_code",
        "return_link",
        "saving",
        "error",
    ),
    *("stopped", "keep_file", "withdraw", "withdraw_question", "withdraw_yes", "withdraw_no", "preview"),
)
SAID_IN_THE_LAB = ("screened_out", "stop_question", "stop_yes", "stopped_here", "finished", "enter", "choose_and_enter")


def script(plan: study.Study, tasks: Tasks, version: Version) -> Script:
    """Return all that a version's sessions show; raises `study.DataError` naming the trials that cannot be shown."""
    own = texts_of(plan)
    texts = own["session"]
    faults: list[str] = []
    trials = []
    for n, trial in enumerate(version.trials):
        try:
            seed = f"{version.seed}-{trial.item.id}-{trial.condition}"
            trials.append(_trial(n, trial, tasks, plan, own, seed))
        except ValueError as error:
            faults.append(f"{plan.path}: item {trial.item.id}: {error}")
    if not plan.procedure.device.keyboard:
        faults += _needs_keys(plan, trials)
    if faults:
        raise study.DataError(dict.fromkeys(faults))
    front = list(_front(plan, tasks, own))
    debriefing = texts["debriefing"] if plan.procedure.debriefing is None else plan.procedure.debriefing
    made = Script(
        language=plan.language,
        direction="rtl" if direction(plan.language) == "rtl" else "ltr",
        device=plan.procedure.device,
        consent=next((n for n, step in enumerate(front) if step.name == "consent"), None),
        front=tuple(front),
        trials=tuple(trials),
        interludes=tuple(_interludes(plan, version, trials, texts)),
        end=tuple(_end(plan, texts)),
        texts={**{name: texts[name] for name in SAID}, "debriefing": debriefing},
        lab={name: texts[LAB][name] for name in SAID_IN_THE_LAB},
        display=plan.procedure.display,
    )
    return made if plan.procedure.device.keyboard else _by_hand(made, texts)


def sections_read(plan: study.Study) -> list[str]:
    """Return the sections of texts that participants of a study may read."""
    tasks = tasks_of(plan)
    settings = tasks.settings.values()
    timed = any(getattr(one, "deadline", None) or getattr(one, "feedback", "never") != "never" for one in settings)
    names = dict.fromkeys(tasks.task(name).__name__.rpartition(".")[2] for name in tasks.settings)
    return ["session", *(["endings"] if plan.online else []), *(["deadline"] if timed else []), *names]


def untranslated(plan: study.Study) -> list[str]:
    """Return what of the texts that participants may read is still English in the study's own file, as `section.key`."""
    return texts_of(plan).untranslated(*sections_read(plan))


def _needs_keys(plan: study.Study, trials: Sequence[Step]) -> Iterator[str]:
    """Yield what is read by keys alone, which would strand whoever has none."""
    keys = {screen.name for step in trials for screen in step.screens if isinstance(screen, (Words, Whole, WordPairs))}
    if keys:
        yield (
            f"{plan.path}: procedure.device.keyboard is false, and {', '.join(sorted(keys))} goes on by keys alone; expected "
            'keyboard = true, or sentences that stand above what is asked of them (show = "with_task")'
        )


def _by_hand(made: Script, texts: Mapping[str, str]) -> Script:
    """Return a script whose buttons speak of no key."""

    def spoken(screen: Screen) -> Screen:
        if not isinstance(screen, Text):
            return screen
        labels = {texts["continue"]: texts["go_on"]}
        return replace(
            screen, buttons=tuple(replace(one, label=labels.get(one.label, one.label)) for one in screen.buttons)
        )

    return _changed(made, spoken)


def _changed(made: Script, change: Callable[[Screen], Screen]) -> Script:
    """Return a script each of whose screens was changed."""

    def steps(before: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(replace(step, screens=tuple(map(change, step.screens))) for step in before)

    interludes = tuple(replace(one, steps=steps(one.steps)) for one in made.interludes)
    return replace(made, front=steps(made.front), trials=steps(made.trials), interludes=interludes, end=steps(made.end))


def _tells(trial: Trial, plan: study.Study) -> bool:
    """Whether players have to know what is right: where practice goes on until enough was."""
    return trial.role == PRACTICE and plan.procedure.practice.criterion is not None


def _trial(n: int, trial: Trial, tasks: Tasks, plan: study.Study, texts: Texts, seed: str) -> Step:
    """Return the step of a trial: its context, the sentence in its presentation, and what is asked of it."""
    if tasks.shows[trial.role] == WITH_TASK and not trial.prompts:
        raise ValueError(f"show is {WITH_TASK!r} for {trial.role}, but no task is asked of its sentence")
    shown: list[Screen] = []
    show = tasks.shows[trial.role]
    if trial.item.context:
        hint = texts["session"]["continue"]
        shown.append(Whole(name="context", task="whole", text=trial.item.context, hint=hint))
    for name in [*([] if show == WITH_TASK else [show]), *trial.prompts]:
        moment = Moment(
            trial,
            name,
            texts,
            len(shown),
            with_task=show == WITH_TASK,
            tell=_tells(trial, plan),
            seed=seed,
            width=plan.procedure.line_width,
        )
        shown += tasks.task(name).screens(tasks.settings[name], moment)
    return Step("trial", tuple(shown), trial=n, block=_block(0) if trial.role == PRACTICE else "")


def _block(repeat: int) -> str:
    return PRACTICE if repeat == 0 else f"{PRACTICE} {repeat + 1}"


# ---------------------------------------------------------------------------------------------------- pages


def page(name: str, texts: Mapping[str, str], text: str | Sequence[str], **more: object) -> Step:
    """Return the step of a page of text that one leaves by the space bar or a button."""
    screen = Text(name=name, paragraphs=_paragraphs(text), buttons=(Button(texts["continue"], "continued"),))
    return Step(name, (replace(screen, **more),))  # type: ignore[arg-type]


def _paragraphs(text: str | Sequence[str]) -> tuple[str, ...]:
    parts = text.split("\n\n") if isinstance(text, str) else text
    return tuple(part.strip() for part in parts if part.strip())


def _front(plan: study.Study, tasks: Tasks, own: Texts) -> Iterator[Step]:
    texts = own["session"]
    lab: Mapping[str, str] = texts[LAB]
    if plan.procedure.device.keyboard:
        leave = {"aside": Button(texts["no_keyboard"], "unsuitable"), "exits": (Exit("unsuitable", "unsuitable"),)}
        yield page("device", texts, texts["device"], buttons=(), lab=_paragraphs(lab["device"]), **leave)
    buttons = Button(texts["consent_accept"], "accepted"), Button(texts["consent_decline"], "declined")
    consent_text = plan.procedure.consent
    consent = Text(
        name="consent",
        heading=plan.title or plan.name,
        paragraphs=_paragraphs(texts["consent"] if consent_text is None else consent_text),
        lab=_paragraphs(lab["consent"]) if consent_text is None else None,
        buttons=buttons,
        space=False,
        exits=(Exit("declined", "refused"),),
    )
    yield Step("consent", (consent,))
    if plan.procedure.screener:
        yield Step(SCREENER, (_screener(plan.procedure.screener, texts),))
    if plan.procedure.instructions is not None:
        for text in plan.procedure.instructions:
            yield page("instructions", texts, text)
        return
    for text in _instructions(plan, tasks, own):
        yield page("instructions", texts, text)
    begin = [texts["practice"]] if plan.design.practice else []
    said = [*_paragraphs(lab["ready"]), *begin]
    ready = _paragraphs(texts["ready"]) if plan.procedure.device.keyboard else ()  # which speaks of keys
    if ready or begin:
        yield page("instructions", texts, [*ready, *begin], lab=tuple(said))


def _screener(asked: Sequence[study.config.ScreenerSection], texts: Mapping[str, str]) -> Form:
    return Form(
        name=SCREENER,
        heading=texts["questions_first"],
        note="",
        fields=tuple(
            study.config.FieldSection(one.name, one.question, "choice", one.choices, needed=True) for one in asked
        ),
        button=texts["go_on"],
        missing=texts["needed"],
        no_number=texts["not_a_number"],
        accepted={one.name: one.accepts for one in asked},
        exits=(Exit("screened_out", "screened_out"),),
    )


def _instructions(plan: study.Study, tasks: Tasks, texts: Texts) -> Iterator[str]:
    """Yield a page for each way of reading and each task, the targets' before those of other roles."""
    roles = [role for role in study.config.ROLES if role in ("target", *_present(plan))]
    shows = [tasks.shows[role] for role in roles if tasks.shows[role] != WITH_TASK]
    asks = [name for role in roles for name in tasks.asks[role]]
    seen: set[str] = set()
    for name in dict.fromkeys([*shows, *asks]):
        text = tasks.task(name).instructions(tasks.settings[name], texts)
        if text and text not in seen:
            yield text
        seen.add(text)


def _present(plan: study.Study) -> list[str]:
    """Return the roles that the design has beside targets."""
    design = plan.design
    sections = {
        "filler": design.fillers,
        "catch": design.catch,
        "practice": design.practice,
        "attention": design.attention,
    }
    return [role for role, section in sections.items() if section]


def _interludes(
    plan: study.Study, version: Version, trials: Sequence[Step], texts: Mapping[str, str]
) -> Iterator[Interlude]:
    """Yield what comes between trials: rounds of practice, its end, breaks, and pages before blocks."""
    practice = [step for step in trials if step.block == PRACTICE]
    section, pauses = plan.procedure.practice, version.pauses()
    try:
        starts = [len(practice) + n for n in version.starts()] if plan.procedure.pages else []
    except ValueError as error:
        raise study.DataError(f"{plan.path}: procedure.pages: {error}; expected equal blocks, or no pages") from None
    pages: dict[int, list[Step]] = {}
    for block_page in plan.procedure.pages:
        if block_page.block > len(starts):
            raise study.DataError(
                f"{plan.path}: procedure.pages names block {block_page.block}; the order has {len(starts)} (ordering.blocks)"
            )
        pages.setdefault(starts[block_page.block - 1], []).append(page("page", texts, block_page.text))
    for position in range(len(practice) + version.length):
        steps: list[Step] = []
        if position == len(practice) > 0:
            for repeat in range(1, section.rounds if section.criterion is not None else 1):
                assert section.criterion is not None
                again = Share(_block(repeat - 1), section.criterion)
                steps.append(replace(page("practice_again", texts, texts["practice"]), when=again))
                steps += [replace(step, block=_block(repeat), when=again) for step in practice]
            steps.append(page("practice_over", texts, texts["practice_over"]))
        elif position in pauses:
            steps.append(page("break", texts, texts["break"]))
        if steps := [*steps, *pages.get(position, [])]:
            yield Interlude(position, tuple(steps))


def _end(plan: study.Study, texts: Mapping[str, str]) -> Iterator[Step]:
    if plan.procedure.demographics:
        form = Form(
            name="demographics",
            heading=texts["about_you"],
            note=texts["may_be_empty"],
            fields=tuple(plan.procedure.demographics),
            button=texts["go_on"],
            missing=texts["needed"],
            no_number=texts["not_a_number"],
        )
        yield Step("demographics", (form,))


# ---------------------------------------------------------------------------------------------------- a session


@dataclass(frozen=True)
class Placed:
    """A step in its place in a session: numbered from 0; `position` counts trials as presented, None for a page."""

    number: int
    step: Step
    position: int | None


def sequence(made: Script, order: Sequence[int]) -> tuple[Placed, ...]:
    """Return the steps of a session: front, the trials in this order with the interludes before them, end."""
    before = {interlude.before: interlude.steps for interlude in made.interludes}
    steps = [*made.front]
    for n, trial in enumerate(order):
        steps += [*before.get(n, ()), made.trials[trial]]
    steps += made.end
    placed, position = [], 0
    for number, step in enumerate(steps):
        placed.append(Placed(number, step, None if step.trial is None else position))
        position += step.trial is not None
    return tuple(placed)


def screener_of(steps: Iterable[Placed]) -> tuple[int, Form] | None:
    """Return the number of the step that decides who takes part, with its form; None where there is none."""
    for placed in steps:
        for screen in placed.step.screens:
            if isinstance(screen, Form) and screen.accepted:
                return placed.number, screen
    return None


def way_out(screen: Screen, outcome: str) -> str | None:
    """Return the ending that this outcome of a screen leads to, None where the session goes on."""
    return next((leave.to for leave in screen.exits if leave.outcome == outcome and leave.to != SKIP), None)


def following(step: Step, n: int, outcomes: Mapping[int, str]) -> int | None:
    """Return the screen of a step that follows screen `n`, by how its screens have ended; None where the step ends with it."""
    if any(leave.to == SKIP and leave.outcome == outcomes[n] for leave in step.screens[n].exits):
        return None
    later = range(n + 1, len(step.screens))
    return next((m for m in later if _shown(step.screens[m], outcomes)), None)


def _shown(screen: Screen, outcomes: Mapping[int, str]) -> bool:
    return screen.when is None or outcomes.get(screen.when.screen) in screen.when.outcomes


class Walk:
    """Where a session stands: `at` is the step and the screen that come next, None at its end; `ending` is how it was left.

    `done` are steps of earlier visits, `tallies` what was judged in their blocks: right, and of how many. `outcomes` are those of
    the step that comes next where it is not begun again, because timed words had begun in it: the last one is theirs. They are not
    shown again: where the session is `interrupted`, the screen at hand ends with that outcome at once.
    """

    def __init__(
        self,
        steps: Sequence[Placed],
        done: Iterable[int] = (),
        tallies: Mapping[str, tuple[int, int]] | None = None,
        outcomes: Mapping[int, str] | None = None,
    ) -> None:
        self.steps, self.done = steps, set(done)
        self.tallies: dict[str, tuple[int, int]] = dict(tallies or {})
        self.ending: str | None = None
        self.outcomes: dict[int, str] = {}
        self.at: tuple[int, int] | None = self._next_step(0)
        self.interrupted = False
        if outcomes and self.at is not None:
            self.outcomes, self.at, self.interrupted = dict(outcomes), (self.at[0], max(outcomes)), True

    def end_screen(self, outcome: str) -> bool:
        """Go on after the screen at hand has ended with this outcome; return whether its step has ended with it."""
        assert self.at is not None
        number, n = self.at
        step = self.steps[number].step
        self.outcomes[n], self.interrupted = outcome, False
        if (to := way_out(step.screens[n], outcome)) is not None:
            self.ending, self.at = to, None
            return False
        if (after := following(step, n, self.outcomes)) is not None:
            self.at = number, after
            return False
        self._end_step(number)
        return True

    def _end_step(self, number: int) -> None:
        self.done.add(number)
        block = self.steps[number].step.block
        if block:
            judged = [outcome for outcome in self.outcomes.values() if outcome in JUDGED]
            right, total = self.tallies.get(block, (0, 0))
            self.tallies[block] = right + judged.count("right"), total + len(judged)
        self.at = self._next_step(number + 1)

    def _next_step(self, number: int) -> tuple[int, int] | None:
        self.outcomes = {}
        for placed in self.steps[number:]:
            if placed.number not in self.done and self._runs(placed.step):
                return placed.number, 0
        return None

    def _runs(self, step: Step) -> bool:
        if step.when is None:
            return True
        if step.when.block not in self.tallies:
            return False  # of a round that was not needed no further one follows
        right, total = self.tallies[step.when.block]
        return (right / total if total else 0.0) < step.when.below


def walk(steps: Sequence[Placed], events: Iterable[Event]) -> Walk:
    """Return where a session stands after these events: of a step begun again only the last run counts, and one in which timed
    words had begun is not begun again.
    """
    done: list[int] = []
    tallies: dict[str, tuple[int, int]] = {}
    outcomes: dict[int, dict[int, str]] = {}
    timed: dict[int, int] = {}  # the last timed words that had begun in a step
    ending = None
    for event in events:
        if event.step is None or event.step >= len(steps):
            continue
        step = steps[event.step].step
        n = -1 if event.screen is None else event.screen
        screen = step.screens[n] if 0 <= n < len(step.screens) else None
        if event.kind == "begin":
            outcomes[event.step] = {}
            timed.pop(event.step, None)
        elif event.kind == "word" and isinstance(screen, Words) and screen.pace is not None:
            timed[event.step] = n
        elif event.kind == "outcome" and screen is not None:
            outcomes.setdefault(event.step, {})[n] = event.value["outcome"]
            ending = way_out(screen, event.value["outcome"]) or ending
        elif event.kind == "done" and event.step not in done:
            done.append(event.step)
            judged = [one for one in outcomes.get(event.step, {}).values() if one in JUDGED]
            if step.block:
                right, total = tallies.get(step.block, (0, 0))
                tallies[step.block] = right + judged.count("right"), total + len(judged)
    made = Walk(steps, done, tallies)
    if ending is not None:
        made.ending, made.at = ending, None
    elif made.at is not None and made.at[0] in timed:
        number, n = made.at[0], timed[made.at[0]]
        before = {screen: outcome for screen, outcome in outcomes.get(number, {}).items() if screen < n}
        made = Walk(steps, done, tallies, {**before, n: "interrupted"})
    return made


def untold(made: Script) -> Script:
    """Return a script as it leaves for players: without right answers, but where the player has to judge."""

    def silent(screen: Screen) -> Screen:
        if isinstance(screen, Answers | Slider | Entry) and screen.right and not screen.tell:
            return replace(screen, right=())
        return replace(screen, accepted={}) if isinstance(screen, Form) else screen

    return _changed(made, silent)
