"""A session is a script: trials are expanded to screens once a list, and walked by every player the same way."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gardenpath import study
from gardenpath.stimuli import Trial, TrialList
from gardenpath.study.events import Event
from gardenpath.study.screens import (
    JUDGED_OUTCOMES,
    SKIP_STEP,
    Answers,
    Button,
    Entry,
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

from ..tasks import WITH_TASK_PRESENTATION, StudyTasks, TrialContext, load_tasks
from ..texts.standard_texts import LAB_SECTION, Texts, get_direction, load_texts

PRACTICE, SCREENER = "practice", "screener"
# What players say outside of screens.
PAGE_TEXTS = (
    *("enlarge", "no_larger", "continue", "go_on", "interrupted", "debriefing", "your_code", "return_link", "saving", "error"),
    *("stopped", "keep_file", "withdraw", "withdraw_question", "withdraw_yes", "withdraw_no", "preview"),
)
LAB_TEXTS = ("screened_out", "stop_question", "stop_yes", "stopped_here", "finished", "enter", "choose_and_enter")


def build_script(config: study.Study, tasks: StudyTasks, trial_list: TrialList) -> Script:
    """Return all that a list's sessions show; raises `study.DataError` naming the trials that cannot be shown."""
    all_texts = load_texts(config)
    texts = all_texts["session"]
    faults: list[str] = []
    trials = []
    for n, trial in enumerate(trial_list.trials):
        try:
            seed = f"{trial_list.seed}-{trial.item.id}-{trial.condition}"
            trials.append(_build_trial_step(n, trial, tasks, config, all_texts, seed))
        except ValueError as error:
            faults.append(f"{config.path}: item {trial.item.id}: {error}")
    if not config.procedure.device.keyboard:
        faults += _find_keyboard_faults(config, trials)
    if faults:
        raise study.DataError(dict.fromkeys(faults))
    front = list(_build_front_steps(config, tasks, all_texts))
    debriefing = texts["debriefing"] if config.procedure.debriefing is None else config.procedure.debriefing
    session_script = Script(
        language=config.language,
        direction="rtl" if get_direction(config.language) == "rtl" else "ltr",
        device=config.procedure.device,
        consent=next((n for n, step in enumerate(front) if step.name == "consent"), None),
        front=tuple(front),
        trials=tuple(trials),
        interludes=tuple(_build_interludes(config, trial_list, trials, texts)),
        end=tuple(_build_end_steps(config, texts)),
        texts={**{name: texts[name] for name in PAGE_TEXTS}, "debriefing": debriefing},
        lab={name: texts[LAB_SECTION][name] for name in LAB_TEXTS},
        display=config.procedure.display,
    )
    return session_script if config.procedure.device.keyboard else _replace_key_labels(session_script, texts)


def list_text_sections(config: study.Study) -> list[str]:
    """Return the sections of texts that participants of a study may read."""
    tasks = load_tasks(config)
    settings = tasks.settings.values()
    has_deadline_texts = any(getattr(one, "deadline", None) or getattr(one, "feedback", "never") != "never" for one in settings)
    names = dict.fromkeys(tasks.get_task(name).__name__.rpartition(".")[2] for name in tasks.settings)
    return ["session", *(["endings"] if config.online else []), *(["deadline"] if has_deadline_texts else []), *names]


def list_untranslated_texts(config: study.Study) -> list[str]:
    """Return what of the texts that participants may read is still English in the study's own file, as `section.key`."""
    return load_texts(config).list_untranslated(*list_text_sections(config))


def _find_keyboard_faults(config: study.Study, trials: Sequence[Step]) -> Iterator[str]:
    """Yield what is read by keys alone, which would strand whoever has none."""
    keys = {screen.name for step in trials for screen in step.screens if isinstance(screen, (Words, Whole, WordPairs))}
    if keys:
        yield (
            f"{config.path}: procedure.device.keyboard is false, and {', '.join(sorted(keys))} goes on by keys alone; expected "
            'keyboard = true, or sentences that stand above what is asked of them (show = "with_task")'
        )


def _replace_key_labels(session_script: Script, texts: Mapping[str, str]) -> Script:
    """Return a script whose buttons speak of no key."""

    def relabel(screen: Screen) -> Screen:
        if not isinstance(screen, Text):
            return screen
        labels = {texts["continue"]: texts["go_on"]}
        return replace(screen, buttons=tuple(replace(one, label=labels.get(one.label, one.label)) for one in screen.buttons))

    return _change_screens(session_script, relabel)


def _change_screens(session_script: Script, change: Callable[[Screen], Screen]) -> Script:
    """Return a script each of whose screens was changed."""

    def change_steps(old_steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(replace(step, screens=tuple(map(change, step.screens))) for step in old_steps)

    interludes = tuple(replace(one, steps=change_steps(one.steps)) for one in session_script.interludes)
    return replace(
        session_script,
        front=change_steps(session_script.front),
        trials=change_steps(session_script.trials),
        interludes=interludes,
        end=change_steps(session_script.end),
    )


def _is_judged_by_player(trial: Trial, config: study.Study) -> bool:
    """Whether players have to know what is right: where practice goes on until enough was."""
    return trial.role == PRACTICE and config.procedure.practice.criterion is not None


def _build_trial_step(n: int, trial: Trial, tasks: StudyTasks, config: study.Study, texts: Texts, seed: str) -> Step:
    """Return the step of a trial: its context, the sentence in its presentation, and what is asked of it."""
    if tasks.presentation_by_role[trial.role] == WITH_TASK_PRESENTATION and not trial.prompts:
        raise ValueError(f"show is {WITH_TASK_PRESENTATION!r} for {trial.role}, but no task is asked of its sentence")
    screens: list[Screen] = []
    presentation = tasks.presentation_by_role[trial.role]
    if trial.item.context:
        hint = texts["session"]["continue"]
        screens.append(Whole(name="context", task="whole", text=trial.item.context, hint=hint))
    for name in [*([] if presentation == WITH_TASK_PRESENTATION else [presentation]), *trial.prompts]:
        trial_context = TrialContext(
            trial,
            name,
            texts,
            len(screens),
            with_task=presentation == WITH_TASK_PRESENTATION,
            is_judged_by_player=_is_judged_by_player(trial, config),
            seed=seed,
            line_width=config.procedure.line_width,
        )
        screens += tasks.get_task(name).build_screens(tasks.settings[name], trial_context)
    return Step("trial", tuple(screens), trial=n, block=_format_block_name(0) if trial.role == PRACTICE else "")


def _format_block_name(repeat: int) -> str:
    return PRACTICE if repeat == 0 else f"{PRACTICE} {repeat + 1}"


# ---------------------------------------------------------------------------------------------------- pages


def build_page_step(name: str, texts: Mapping[str, str], text: str | Sequence[str], **fields: object) -> Step:
    """Return the step of a page of text that one leaves by the space bar or a button."""
    screen = Text(name=name, paragraphs=_split_paragraphs(text), buttons=(Button(texts["continue"], "continued"),))
    return Step(name, (replace(screen, **fields),))  # type: ignore[arg-type]


def _split_paragraphs(text: str | Sequence[str]) -> tuple[str, ...]:
    parts = text.split("\n\n") if isinstance(text, str) else text
    return tuple(part.strip() for part in parts if part.strip())


def _build_front_steps(config: study.Study, tasks: StudyTasks, all_texts: Texts) -> Iterator[Step]:
    texts = all_texts["session"]
    lab: Mapping[str, str] = texts[LAB_SECTION]
    if config.procedure.device.keyboard:
        exit_fields = {"aside": Button(texts["no_keyboard"], "unsuitable"), "exits": (Exit("unsuitable", "unsuitable"),)}
        yield build_page_step("device", texts, texts["device"], buttons=(), lab=_split_paragraphs(lab["device"]), **exit_fields)
    buttons = Button(texts["consent_accept"], "accepted"), Button(texts["consent_decline"], "declined")
    consent_text = config.procedure.consent
    consent = Text(
        name="consent",
        heading=config.title or config.name,
        paragraphs=_split_paragraphs(texts["consent"] if consent_text is None else consent_text),
        lab=_split_paragraphs(lab["consent"]) if consent_text is None else None,
        buttons=buttons,
        space=False,
        exits=(Exit("declined", "refused"),),
    )
    yield Step("consent", (consent,))
    if config.procedure.screener:
        yield Step(SCREENER, (_build_screener_form(config.procedure.screener, texts),))
    if config.procedure.instructions is not None:
        for text in config.procedure.instructions:
            yield build_page_step("instructions", texts, text)
        return
    for text in _list_instructions(config, tasks, all_texts):
        yield build_page_step("instructions", texts, text)
    practice_paragraph = [texts["practice"]] if config.design.practice else []
    lab_paragraphs = [*_split_paragraphs(lab["ready"]), *practice_paragraph]
    ready = _split_paragraphs(texts["ready"]) if config.procedure.device.keyboard else ()  # which speaks of keys
    if ready or practice_paragraph:
        yield build_page_step("instructions", texts, [*ready, *practice_paragraph], lab=tuple(lab_paragraphs))


def _build_screener_form(questions: Sequence[study.config.ScreenerSection], texts: Mapping[str, str]) -> Form:
    return Form(
        name=SCREENER,
        heading=texts["questions_first"],
        note="",
        fields=tuple(study.config.FieldSection(one.name, one.question, "choice", one.choices, required=True) for one in questions),
        button=texts["go_on"],
        missing=texts["needed"],
        no_number=texts["not_a_number"],
        accepted={one.name: one.accepted_choices for one in questions},
        exits=(Exit("screened_out", "screened_out"),),
    )


def _list_instructions(config: study.Study, tasks: StudyTasks, texts: Texts) -> Iterator[str]:
    """Yield a page for each way of reading and each task, the targets' before those of other roles."""
    roles = [role for role in study.config.ROLES if role in ("target", *_list_present_roles(config))]
    presentations = [
        tasks.presentation_by_role[role] for role in roles if tasks.presentation_by_role[role] != WITH_TASK_PRESENTATION
    ]
    task_names = [name for role in roles for name in tasks.tasks_by_role[role]]
    seen: set[str] = set()
    for name in dict.fromkeys([*presentations, *task_names]):
        text = tasks.get_task(name).write_instructions(tasks.settings[name], texts)
        if text and text not in seen:
            yield text
        seen.add(text)


def _list_present_roles(config: study.Study) -> list[str]:
    """Return the roles that the design has beside targets."""
    design = config.design
    sections = {"filler": design.fillers, "catch": design.catch, "practice": design.practice, "attention": design.attention}
    return [role for role, section in sections.items() if section]


def _build_interludes(
    config: study.Study, trial_list: TrialList, trials: Sequence[Step], texts: Mapping[str, str]
) -> Iterator[Interlude]:
    """Yield what comes between trials: rounds of practice, its end, breaks, and pages before blocks."""
    practice = [step for step in trials if step.block == PRACTICE]
    section, pauses = config.procedure.practice, trial_list.list_break_positions()
    try:
        starts = [len(practice) + n for n in trial_list.list_block_starts()] if config.procedure.pages else []
    except ValueError as error:
        raise study.DataError(f"{config.path}: procedure.pages: {error}; expected equal blocks, or no pages") from None
    pages: dict[int, list[Step]] = {}
    for block_page in config.procedure.pages:
        if block_page.block > len(starts):
            raise study.DataError(
                f"{config.path}: procedure.pages names block {block_page.block}; the order has {len(starts)} (ordering.blocks)"
            )
        pages.setdefault(starts[block_page.block - 1], []).append(build_page_step("page", texts, block_page.text))
    for position in range(len(practice) + trial_list.length):
        steps: list[Step] = []
        if position == len(practice) > 0:
            for repeat in range(1, section.max_rounds if section.criterion is not None else 1):
                assert section.criterion is not None
                repeat_condition = Share(_format_block_name(repeat - 1), section.criterion)
                steps.append(replace(build_page_step("practice_again", texts, texts["practice"]), when=repeat_condition))
                steps += [replace(step, block=_format_block_name(repeat), when=repeat_condition) for step in practice]
            steps.append(build_page_step("practice_over", texts, texts["practice_over"]))
        elif position in pauses:
            steps.append(build_page_step("break", texts, texts["break"]))
        if steps := [*steps, *pages.get(position, [])]:
            yield Interlude(position, tuple(steps))


def _build_end_steps(config: study.Study, texts: Mapping[str, str]) -> Iterator[Step]:
    if config.procedure.demographics:
        form = Form(
            name="demographics",
            heading=texts["about_you"],
            note=texts["may_be_empty"],
            fields=tuple(config.procedure.demographics),
            button=texts["go_on"],
            missing=texts["needed"],
            no_number=texts["not_a_number"],
        )
        yield Step("demographics", (form,))


# ---------------------------------------------------------------------------------------------------- a session


@dataclass(frozen=True)
class TimelineStep:
    """A step in its place in a session: numbered from 0; `position` counts trials as presented, None for a page."""

    number: int
    step: Step
    position: int | None


def build_timeline(session_script: Script, order: Sequence[int]) -> tuple[TimelineStep, ...]:
    """Return the steps of a session: front, the trials in this order with the interludes before them, end."""
    before = {interlude.before: interlude.steps for interlude in session_script.interludes}
    steps = [*session_script.front]
    for n, trial in enumerate(order):
        steps += [*before.get(n, ()), session_script.trials[trial]]
    steps += session_script.end
    timeline, position = [], 0
    for number, step in enumerate(steps):
        timeline.append(TimelineStep(number, step, None if step.trial is None else position))
        position += step.trial is not None
    return tuple(timeline)


def find_screener(steps: Iterable[TimelineStep]) -> tuple[int, Form] | None:
    """Return the number of the step that decides who takes part, with its form; None where there is none."""
    for timeline_step in steps:
        for screen in timeline_step.step.screens:
            if isinstance(screen, Form) and screen.accepted:
                return timeline_step.number, screen
    return None


def find_ending(screen: Screen, outcome: str) -> str | None:
    """Return the ending that this outcome of a screen leads to, None where the session goes on."""
    return next((leave.to for leave in screen.exits if leave.outcome == outcome and leave.to != SKIP_STEP), None)


def find_next_screen(step: Step, n: int, outcomes: Mapping[int, str]) -> int | None:
    """Return the screen of a step that follows screen `n`, by how its screens have ended; None where the step ends with it."""
    if any(leave.to == SKIP_STEP and leave.outcome == outcomes[n] for leave in step.screens[n].exits):
        return None
    remaining = range(n + 1, len(step.screens))
    return next((m for m in remaining if _is_shown(step.screens[m], outcomes)), None)


def _is_shown(screen: Screen, outcomes: Mapping[int, str]) -> bool:
    return screen.when is None or outcomes.get(screen.when.screen) in screen.when.outcomes


class Walk:
    """Where a session stands: `location` is the step and the screen that come next, None at its end; `ending` is how it was left.

    `done_steps` are steps of earlier visits, `tallies` what was judged in their blocks: right, and of how many. `outcomes` are
    those of the step that comes next where it is not begun again, because timed words had begun in it: the last one is theirs.
    They are not shown again: where the session is `is_interrupted`, the screen at hand ends with that outcome at once.
    """

    def __init__(
        self,
        steps: Sequence[TimelineStep],
        done: Iterable[int] = (),
        tallies: Mapping[str, tuple[int, int]] | None = None,
        outcomes: Mapping[int, str] | None = None,
    ) -> None:
        self.steps, self.done_steps = steps, set(done)
        self.tallies: dict[str, tuple[int, int]] = dict(tallies or {})
        self.ending: str | None = None
        self.outcomes: dict[int, str] = {}
        self.location: tuple[int, int] | None = self._find_next_step(0)
        self.is_interrupted = False
        if outcomes and self.location is not None:
            self.outcomes, self.location, self.is_interrupted = dict(outcomes), (self.location[0], max(outcomes)), True

    def end_screen(self, outcome: str) -> bool:
        """Go on after the screen at hand has ended with this outcome; return whether its step has ended with it."""
        assert self.location is not None
        number, n = self.location
        step = self.steps[number].step
        self.outcomes[n], self.is_interrupted = outcome, False
        if (ending := find_ending(step.screens[n], outcome)) is not None:
            self.ending, self.location = ending, None
            return False
        if (next_screen := find_next_screen(step, n, self.outcomes)) is not None:
            self.location = number, next_screen
            return False
        self._end_step(number)
        return True

    def _end_step(self, number: int) -> None:
        self.done_steps.add(number)
        block = self.steps[number].step.block
        if block:
            judged_outcomes = [outcome for outcome in self.outcomes.values() if outcome in JUDGED_OUTCOMES]
            right, total = self.tallies.get(block, (0, 0))
            self.tallies[block] = right + judged_outcomes.count("right"), total + len(judged_outcomes)
        self.location = self._find_next_step(number + 1)

    def _find_next_step(self, number: int) -> tuple[int, int] | None:
        self.outcomes = {}
        for timeline_step in self.steps[number:]:
            if timeline_step.number not in self.done_steps and self._is_needed(timeline_step.step):
                return timeline_step.number, 0
        return None

    def _is_needed(self, step: Step) -> bool:
        if step.when is None:
            return True
        if step.when.block not in self.tallies:
            return False  # of a round that was not needed no further one follows
        right, total = self.tallies[step.when.block]
        return (right / total if total else 0.0) < step.when.below


def replay_events(steps: Sequence[TimelineStep], events: Iterable[Event]) -> Walk:
    """Return where a session stands after these events: of a step begun again only the last run counts, and one in which timed
    words had begun is not begun again.
    """
    done: list[int] = []
    tallies: dict[str, tuple[int, int]] = {}
    outcomes: dict[int, dict[int, str]] = {}
    timed_screens: dict[int, int] = {}  # the last timed words that had begun in a step
    ending = None
    for event in events:
        if event.step is None or event.step >= len(steps):
            continue
        step = steps[event.step].step
        n = -1 if event.screen is None else event.screen
        screen = step.screens[n] if 0 <= n < len(step.screens) else None
        if event.kind == "begin":
            outcomes[event.step] = {}
            timed_screens.pop(event.step, None)
        elif event.kind == "word" and isinstance(screen, Words) and screen.pace is not None:
            timed_screens[event.step] = n
        elif event.kind == "outcome" and screen is not None:
            outcomes.setdefault(event.step, {})[n] = event.value["outcome"]
            ending = find_ending(screen, event.value["outcome"]) or ending
        elif event.kind == "done" and event.step not in done:
            done.append(event.step)
            judged_outcomes = [one for one in outcomes.get(event.step, {}).values() if one in JUDGED_OUTCOMES]
            if step.block:
                right, total = tallies.get(step.block, (0, 0))
                tallies[step.block] = right + judged_outcomes.count("right"), total + len(judged_outcomes)
    result = Walk(steps, done, tallies)
    if ending is not None:
        result.ending, result.location = ending, None
    elif result.location is not None and result.location[0] in timed_screens:
        number, n = result.location[0], timed_screens[result.location[0]]
        before = {screen: outcome for screen, outcome in outcomes.get(number, {}).items() if screen < n}
        result = Walk(steps, done, tallies, {**before, n: "interrupted"})
    return result


def strip_correct_answers(session_script: Script) -> Script:
    """Return a script as it leaves for players: without right answers, but where the player has to judge."""

    def strip_screen(screen: Screen) -> Screen:
        if isinstance(screen, Answers | Slider | Entry) and screen.right and not screen.is_judged_by_player:
            return replace(screen, right=())
        return replace(screen, accepted={}) if isinstance(screen, Form) else screen

    return _change_screens(session_script, strip_screen)
