"""Counterbalanced designs: paradigms dealt to experiments, conditions to lists, and an order for each slot."""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from gardenpath import study

from .experiment_assignment import assign_paradigms_to_experiments, find_paradigms_sharing_sentences, find_repeated_sentences
from .formats import marked_csv, read_study
from .items import Item, Materials, Paradigm, Question, Sentence
from .list_assignment import assign_items_to_lists, draw_in_rounds, find_list_faults, get_separation_key
from .orderings import Ordering
from .question_assignment import AnswerCycle, LatinSquare, choose_question_items
from .task_shares import SHARED_ROLES, ask_share, remove_task
from .trials import ATTENTION, PRACTICE, Role, Trial, TrialList

PAIR_TRIAL = "pair"  # a trial that shows both members
SIDES = ("first", "second")

Ratio = Mapping[str, int]
Levels = Mapping[str, str]
AnswersByItem = Mapping[str, AnswerCycle]  # the answers of each item that a question is asked about


@dataclass(frozen=True)
class Rotation:
    """Items of a paradigm that go through its conditions together, in shares of `ratio`; `offset` is where they begin."""

    role: Role
    paradigm: Paradigm
    items: Sequence[Item]
    ratio: Ratio
    offset: int = 0

    @property
    def cycle(self) -> list[str]:
        """The conditions in the order of the lists, each as often as its share."""
        return [condition for condition, share in reversed(list(self.ratio.items())) for _ in range(share)]


@dataclass(frozen=True)
class Design(study.DesignSection):
    """How items are dealt, with unequal shares of conditions where asked for.

    `ratio` gives the share of each condition: {"grammatical": 2, "ungrammatical": 1} shows of nine items of a
    paradigm six in one and three in the other condition, different ones in each list (Suijkerbuijk et al. 2025,
    doi 10.1162/COLI.a.00559); without it shares are equal. `ratios` does so for single paradigms, by name: several
    experiments with conditions of their own may share a session, each the others' fillers. No participant
    sees two members of an item, unless `trial` is "pair": then each trial shows both, for a forced choice, and `ratio` says
    how often each comes on the first side.

    `between_items` names factors in which items differ (a column of theirs): every level is balanced in itself.
    `between_participants` names factors of the paradigms of which a participant sees one level: each level has `lists`
    of its own. `fillers` and `catch` name paradigms that are not targets: all their items are shown in every list of every
    experiment, in the conditions of `filler_ratio` (fillers only) or all equally often. `practice` are sentences (or pairs) shown
    first, as written, or sentences with a question; `attention` are instructions or nonsense among the rest. `task_shares` names
    tasks that are asked of a share of targets and fillers. Of several experiments each has some of the paradigms, those of a
    phenomenon and those that share a sentence in different ones, as far as can be: nobody reads a sentence of two paradigms. With
    `allow_unequal_experiments` some may have one more than others.

    `short_lists` deals the items of an experiment to many short lists: `items_per_list` of different paradigms a list, each in
    `ratings_per_item` lists, in each condition (or with each first) as often as `ratio` says; of `catch` and
    `attention` each list has one more item, in turn (Warstadt et al. 2020, doi 10.1162/tacl_a_00321).

    A comprehension question is asked about an item in every list or in none,
    and the items are dealt to the conditions so that its right answers are in balance in each of them.

    >>> from gardenpath import stimuli
    >>> paradigm = stimuli.Paradigm("verbs", "voice", {"voice": ("active", "passive")})
    >>> pair = {"active": stimuli.Sentence("Dogs chase cats."), "passive": stimuli.Sentence("Cats are chased by dogs.")}
    >>> materials = stimuli.Materials((paradigm,), tuple(stimuli.Item(f"i{n}", "verbs", pair) for n in (1, 2, 3)))
    >>> trial_lists = stimuli.Design({"active": 2, "passive": 1}, lists=3).build_trial_lists(materials, seed=1)
    >>> [[trial.condition for trial in trial_list.trials] for trial_list in trial_lists]
    [['passive', 'active', 'active'], ['active', 'active', 'passive'], ['active', 'passive', 'active']]
    """

    def build_trial_lists(
        self,
        materials: Materials,
        *,
        ordering: Ordering | None = None,
        seed: int,
        tasks_by_role: Mapping[str, Sequence[str]] | None = None,
        required_columns: Mapping[str, Sequence[str]] | None = None,
    ) -> list[TrialList]:
        """Return the lists of every experiment; where there can be none, raises `ValueError` with the arithmetic.

        `tasks_by_role` names the tasks that follow a sentence of each role; `required_columns` names the fields or columns that
        a task needs: it is asked of the items that have them all.
        """
        if faults := _find_faults(self, materials):
            raise ValueError("\n".join(faults))
        ordering = ordering or Ordering()
        if self.short_lists is not None and (
            ordering.block_by or ordering.order != "random" or ordering.precedence or ordering.scope != "all"
        ):
            raise ValueError(
                "short_lists beside ordering.block_by, order, precedence or scope; expected lists = N in place of short_lists"
            )
        known = {item.id for item in materials.items}
        if unknown := [item for chain in ordering.precedence for item in chain if item not in known]:
            raise ValueError(f"ordering.precedence names {unknown[0]!r}, which no item is called; expected items of the materials")
        file_positions = {item.id: n for n, item in enumerate(materials.items)}
        chosen = {p.id: self._take_items_by_level(p, materials) for p in self._select_targets(materials)}
        shared_trials = [*self._build_practice_trials(materials), *self._build_attention_trials(materials)]
        tasks_by_role, required_columns = tasks_by_role or {}, required_columns or {}
        trial_lists = []
        for e, paradigms in enumerate(self._assign_paradigms(chosen, materials, seed), start=1):
            if self.short_lists is not None:
                pool, short_lists = self._build_short_lists(materials, paradigms, self.short_lists, f"{seed}-lists-E{e}")
                pool = tuple(_add_prompts(trial, tasks_by_role.get(trial.role, ()), required_columns) for trial in pool)
                trial_lists.append(TrialList("L1", f"E{e}", pool, ordering, seed, short_lists=short_lists))
                continue
            question_items = self._choose_question_items(
                materials, paradigms, f"{seed}-share-{{}}-E{e}", tasks_by_role, required_columns
            )
            turns = itertools.product(self._list_participant_levels(materials), range(self.lists))
            for n, (levels, turn) in enumerate(turns, start=1):
                trials = [*shared_trials, *self._build_list_trials(materials, paradigms, levels, turn, question_items)]
                if ordering.order != "random":
                    trials.sort(key=lambda trial: file_positions.get(trial.item.id, -1))
                prompted = tuple(_add_prompts(trial, tasks_by_role.get(trial.role, ()), required_columns) for trial in trials)
                for name, share in self.task_shares.items() if tasks_by_role else ():
                    if name in question_items:
                        prompted = tuple(
                            t if t.role not in SHARED_ROLES or t.item.id in question_items[name] else remove_task(t, name)
                            for t in prompted
                        )
                    else:
                        prompted = ask_share(prompted, name, share, Random(f"{seed}-share-{name}-E{e}-V{n}"))
                trial_lists.append(TrialList(f"L{n}", f"E{e}", prompted, ordering, seed, levels))
        if repeated := list(find_repeated_sentences(trial_lists)):
            raise ValueError("\n".join(repeated))
        return trial_lists

    def _select_targets(self, materials: Materials) -> list[Paradigm]:
        return [p for p in materials.paradigms if p.id not in (*self.fillers, *self.catch)]

    def _take_items_by_level(self, paradigm: Paradigm, materials: Materials) -> list[list[Item]]:
        """Return the paradigm's first items by level of the factors between items, equally many of each."""
        groups = self._group_items_by_level(paradigm, materials).values()
        return [items if self.items is None else items[: self.items // len(groups)] for items in groups]

    def _group_items_by_level(self, paradigm: Paradigm, materials: Materials) -> dict[str, list[Item]]:
        groups: dict[str, list[Item]] = {}
        for item in materials.items:
            if item.paradigm == paradigm.id:
                groups.setdefault(", ".join(item.extra.get(name, "") for name in self.between_items), []).append(item)
        return groups

    def _assign_paradigms(self, chosen: Mapping[str, list[list[Item]]], materials: Materials, seed: int) -> list[list[str]]:
        """Deal the paradigms at random to experiments of equal size, those of a phenomenon, or with a sentence in common, apart."""
        if self.experiments == 1:
            return [[*chosen]]
        names = [*chosen]
        Random(f"{seed}-experiments").shuffle(names)
        phenomenon = {name: materials.find_paradigm(name).phenomenon for name in names}
        items = {name: [item for level in levels for item in level] for name, levels in chosen.items()}
        return assign_paradigms_to_experiments(names, phenomenon, find_paradigms_sharing_sentences(items), self.experiments)

    def _list_participant_levels(self, materials: Materials) -> list[dict[str, str]]:
        """Return the levels that vary between participants."""
        first = self._select_targets(materials)[0]
        products = itertools.product(*(first.factors[name] for name in self.between_participants))
        return [dict(zip(self.between_participants, levels, strict=True)) for levels in products]

    def _select_ratio(self, paradigm: Paradigm, materials: Materials, levels: Levels) -> Ratio:
        """Return the shares of a target paradigm's conditions that have these levels."""
        own, first = paradigm.list_conditions(), self._select_targets(materials)[0].list_conditions()
        equal = dict.fromkeys(first if first.keys() == own.keys() else own, 1)
        ratio = self.paradigm_ratios.get(paradigm.id) or self.ratio or equal
        return {c: n for c, n in ratio.items() if levels.items() <= own[c].items()}

    def _build_list_trials(
        self, materials: Materials, paradigms: Iterable[str], levels: Levels, turn: int, question_items: Mapping[str, AnswersByItem]
    ) -> Iterator[Trial]:
        """Yield the trials of a list: an item at place i of paradigm p in the (i + p + turn)-th condition of the cycle."""
        squares: dict[tuple[str, ...], LatinSquare] = defaultdict(LatinSquare)
        for rotation in self._build_rotations(materials, paradigms, levels):
            target, total = rotation.role == "target", len(rotation.cycle)
            step = total // self.lists if target and total % self.lists == 0 else 1
            kinds = [
                tuple((name, *answers[i.id]) for name, answers in question_items.items() if i.id in answers) for i in rotation.items
            ]
            positions = squares[rotation.role, *(rotation.cycle if target else ())].assign_positions(
                kinds, rotation.cycle, rotation.offset
            )
            first = rotation.offset + turn * step
            for item, position in zip(rotation.items, positions, strict=True):
                yield self._build_trial(rotation, item, rotation.cycle[(position + first) % len(rotation.cycle)])

    def _build_short_lists(
        self, materials: Materials, paradigms: Sequence[str], section: study.ShortListsSection, seed: str
    ) -> tuple[tuple[Trial, ...], tuple[tuple[int, ...], ...]]:
        """Return the trials of an experiment, and its lists as positions in them; raises `ValueError` where there are none."""
        rotations = list(self._build_rotations(materials, paradigms, {}))
        rotation_of = {item.id: rotation for rotation in rotations for item in rotation.items}
        items: dict[str, list[Item]] = {}
        for rotation in rotations:
            if rotation.role == "target":
                for item in rotation.items:
                    items.setdefault(get_separation_key(item, section), []).append(item)
        if faults := list(find_list_faults({name: len(some) for name, some in items.items()}, section)):
            where = f"experiment {seed.rpartition('-')[2]}: " if self.experiments > 1 else ""
            raise ValueError("\n".join(where + fault for fault in faults))
        chosen, random = assign_items_to_lists(items, section, seed), Random(f"{seed}-sides")
        catch = [item for rotation in rotations if rotation.role == "catch" for item in rotation.items]
        for some, item in zip(chosen, draw_in_rounds(catch, len(chosen) if catch else 0, random), strict=False):
            some.append(item)
        times = Counter(item.id for some in chosen for item in some)
        conditions = {id: draw_in_rounds(rotation_of[id].cycle, times[id], random) for id in rotation_of}
        pool = [*self._build_practice_trials(materials), *self._build_attention_trials(materials)]
        extra = [n for n, trial in enumerate(pool) if trial.role == ATTENTION]
        attention = draw_in_rounds(extra, len(chosen) if extra else 0, random)
        drawn = [[(item.id, next(conditions[item.id])) for item in some] for some in chosen]
        used = {shown for some in drawn for shown in some}
        pool_positions: dict[tuple[str, str], int] = {}
        for rotation in rotations:
            for item, condition in itertools.product(rotation.items, rotation.ratio):
                if (item.id, condition) in used:
                    pool_positions[item.id, condition] = len(pool)
                    pool.append(self._build_trial(rotation, item, condition))
        return tuple(pool), tuple((*(pool_positions[shown] for shown in some), *itertools.islice(attention, 1)) for some in drawn)

    def _build_rotations(self, materials: Materials, paradigms: Iterable[str], levels: Levels) -> Iterator[Rotation]:
        for p, name in enumerate(paradigms):
            paradigm = materials.find_paradigm(name)
            for items in self._take_items_by_level(paradigm, materials):
                yield Rotation("target", paradigm, items, self._select_ratio(paradigm, materials, levels), p)
        others: list[tuple[Role, str]] = [("filler", f) for f in self.fillers] + [("catch", c) for c in self.catch]
        for role, name in others:
            paradigm = materials.find_paradigm(name)
            items = [item for item in materials.items if item.paradigm == name]
            yield Rotation(role, paradigm, items, self._get_other_ratio(role, paradigm))

    def _choose_question_items(
        self,
        materials: Materials,
        paradigms: Iterable[str],
        seed: str,
        tasks_by_role: Mapping[str, Sequence[str]],
        required_columns: Mapping[str, Sequence[str]],
    ) -> dict[str, AnswersByItem]:
        """Return the items that each comprehension question is asked about, the same ones in every list, with their answers."""
        rotations = list(self._build_rotations(materials, paradigms, {}))
        shared = sum(len(rotation.items) for rotation in rotations if rotation.role in SHARED_ROLES)
        question_items: dict[str, AnswersByItem] = {}
        for name, required in required_columns.items():
            if not tasks_by_role or "question" not in required:
                continue
            groups = [(r.role, self._collect_answers(r, required)) for r in rotations if name in tasks_by_role.get(r.role, ())]
            question_items[name] = {item: answers for _, group in groups for item, answers in group.items()}
            if name in self.task_shares:
                some = [group for role, group in groups if role in SHARED_ROLES]
                chosen = choose_question_items(name, self.task_shares[name], shared, some, Random(seed.format(name)))
                left = {item for group in some for item in group} - chosen
                question_items[name] = {item: answers for item, answers in question_items[name].items() if item not in left}
        return question_items

    def _collect_answers(self, rotation: Rotation, required: Sequence[str]) -> AnswersByItem:
        """Return the answers, at each place of the cycle, to the question about each item that has one and what else is needed."""
        answers = {}
        for item in rotation.items:
            trials = [self._build_trial(rotation, item, condition) for condition in rotation.cycle]
            trial_answers = [trial.get_answer() for trial in trials if all(map(trial.has_value, required))]
            right = tuple(answer for answer in trial_answers if answer is not None)
            if len(right) == len(trials):
                answers[item.id] = right
        return answers

    def _get_other_ratio(self, role: Role, paradigm: Paradigm) -> Ratio:
        ratio = self.filler_ratio if role == "filler" else {}
        return ratio or dict.fromkeys(paradigm.list_conditions(), 1)

    def _build_trial(self, rotation: Rotation, item: Item, first: str) -> Trial:
        """Return the trial that shows an item in a condition, or in a pair this one first."""
        names = [first, *(c for c in rotation.ratio if c != first)] if self.trial == PAIR_TRIAL else [first]
        shown = tuple((name, item.sentences[name]) for name in names)
        return Trial(rotation.role, item, shown, factors=self._collect_factors(rotation.paradigm, item, names))

    def _collect_factors(self, paradigm: Paradigm, item: Item, names: Sequence[str]) -> dict[str, str]:
        """Return the phenomenon and the levels that all shown conditions share, of the paradigm's and the item's factors."""
        conditions = paradigm.list_conditions()
        shared = set.intersection(*(set(conditions[name].items()) for name in names))
        within = {factor: level for factor, level in conditions[names[0]].items() if (factor, level) in shared}
        between = {name: item.extra[name] for name in self.between_items if name in item.extra}
        return {"phenomenon": paradigm.phenomenon, **within, **between}

    def _build_practice_trials(self, materials: Materials) -> Iterator[Trial]:
        for n, section in enumerate(self.practice, start=1):
            if not isinstance(section, study.PracticeSection):
                yield self._build_written_trial(PRACTICE, PRACTICE, n, section, materials)
                continue
            trial = self._build_written_trial(PRACTICE, PRACTICE, n, section.sentence, materials)
            question = None
            if section.question is not None and section.answer is not None:
                choices = tuple(section.choices) or study.yes_no_words.get_yes_no_words(trial.item.language)
                answer = (
                    section.answer if section.choices else study.yes_no_words.translate_yes_no(section.answer, trial.item.language)
                )
                question = Question(section.question, {PRACTICE: answer}, choices)
            sentences = {PRACTICE: _build_practice_sentence(section)}
            item = replace(trial.item, sentences=sentences, question=question, extra=dict(section.columns), context=section.context)
            yield replace(trial, item=item, shown_sentences=tuple(sentences.items()))

    def _build_attention_trials(self, materials: Materials) -> Iterator[Trial]:
        for n, section in enumerate(self.attention, start=1):
            expected = {name: tuple(responses) for name, responses in section.expected_responses.items()}
            yield self._build_written_trial(ATTENTION, section.kind, n, section.sentence, materials, expected)

    def _build_written_trial(
        self,
        role: Role,
        condition: str,
        number: int,
        texts: str | Sequence[str],
        materials: Materials,
        expected: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Trial:
        """Return a trial whose sentence, or pair of sentences, is written in the design itself."""
        written = {condition: texts} if isinstance(texts, str) else dict(zip(SIDES, texts, strict=True))
        sentences = {name: Sentence(*marked_csv.parse_marked_sentence(text)) for name, text in written.items()}
        language = materials.items[0].language if materials.items else "en"
        item = Item(f"{role}-{number}", role, sentences, language)
        return Trial(role, item, tuple(sentences.items()), expected_responses=expected or {})


def _build_practice_sentence(section: study.PracticeSection) -> Sentence:
    """Return a practice sentence with its words as they are stated."""
    text, regions = marked_csv.parse_marked_sentence(section.sentence)
    alternatives = None if section.alternatives is None else tuple(section.alternatives.split())
    return Sentence(text, regions, marked_csv.parse_segmentation(text, section.segmentation or ""), alternatives=alternatives)


def _add_prompts(trial: Trial, names: Sequence[str], required_columns: Mapping[str, Sequence[str]]) -> Trial:
    """Return a trial with the tasks that follow it; one that needs a field or a column is asked where the item has it."""
    return replace(trial, prompts=tuple(name for name in names if all(map(trial.has_value, required_columns.get(name, ())))))


def _find_faults(design: Design, materials: Materials) -> list[str]:
    """Return every reason why the materials cannot be dealt this way."""
    known = [paradigm.id for paradigm in materials.paradigms]
    unknown = [
        f"{what} names {', '.join(absent)}, which the materials do not have; they have {', '.join(known)}"
        for what, names in (("fillers", design.fillers), ("catch", design.catch), ("paradigm_ratios", design.paradigm_ratios))
        if (absent := [name for name in names if name not in known])
    ]
    if unknown:
        return unknown
    faults = list(_find_written_faults(design))
    targets = design._select_targets(materials)
    each, more = divmod(len(targets), design.experiments)
    if not each or (more and not design.allow_unequal_experiments):
        unequal = f"; expected allow_unequal_experiments = true, for {more} of {each + 1} and {design.experiments - more} of {each}"
        faults.append(
            f"{len(targets)} paradigms cannot be assigned equally to {design.experiments} experiments{unequal if each else ''}"
        )
    shares = [fault for paradigm in targets for fault in _find_ratio_faults(design, paradigm)]
    shares += [
        f"paradigm_ratios names {name}, which is no target; expected filler_ratio, or none for catch sentences"
        for name in design.paradigm_ratios
        if name in (*design.fillers, *design.catch)
    ]
    for name in design.fillers:
        shares += _find_unknown_conditions("filler_ratio", design.filler_ratio, materials.find_paradigm(name))
    for name in (*design.fillers, *design.catch) if design.trial == PAIR_TRIAL else ():
        conditions = materials.find_paradigm(name).list_conditions()
        if len(conditions) != len(SIDES):
            shares.append(f"paradigm {name} has {len(conditions)} conditions; expected two, since a trial shows a pair")
    if shares or not targets:
        return [*faults, *shares]
    shown = [
        (p, design._select_ratio(p, materials, levels)) for levels in design._list_participant_levels(materials) for p in targets
    ]
    ratios = [ratio for _, ratio in shown]
    if design.short_lists is not None:
        excluded_fields = ("fillers", "task_shares", "between_participants")
        faults += [f"short lists have no {name}; expected it left out" for name in excluded_fields if getattr(design, name)]
    faults += dict.fromkeys(fault for ratio in ratios for fault in _find_rotation_faults(design, ratio))
    n_lists = math.lcm(*(sum(ratio.values()) for ratio in ratios))
    if len({sum(ratio.values()) for ratio in ratios}) > 1 and any(_find_rotation_faults(design, ratio) for ratio in ratios):
        faults.append(f"{n_lists} lists rotate the conditions of all paradigms")
    counts = [f for p, ratio in shown for f in _find_count_faults(design, ratio, p, materials)]
    return [*faults, *dict.fromkeys(counts)]


def _find_written_faults(design: Design) -> Iterator[str]:
    """Yield what is wrong with the sentences written in the design itself, and with questions after a pair."""
    pair = design.trial == PAIR_TRIAL
    expected = "two, since a trial shows a pair" if pair else "one"
    written: list[tuple[str, int, str | list[str]]] = [
        ("practice", n, section.sentence if isinstance(section, study.PracticeSection) else section)
        for n, section in enumerate(design.practice, start=1)
    ]
    written += [("attention", n, section.sentence) for n, section in enumerate(design.attention, start=1)]
    for n, section in enumerate(design.practice, start=1):
        try:
            if isinstance(section, study.PracticeSection):
                _build_practice_sentence(section)
        except ValueError as error:
            yield f"practice {n}: {error}"
    for what, n, texts in written:
        count = 1 if isinstance(texts, str) else len(texts)
        if count != (len(SIDES) if pair else 1) or (not pair and not isinstance(texts, str)):
            yield f"{what} {n} has {count} sentence{'s' if count != 1 else ''}; expected {expected}"


def _find_ratio_faults(design: Design, paradigm: Paradigm) -> list[str]:
    known = paradigm.list_conditions()
    ratio = design.paradigm_ratios.get(paradigm.id) or design.ratio
    faults = _find_unknown_conditions(
        f"paradigm_ratios.{paradigm.id}" if paradigm.id in design.paradigm_ratios else "ratio", ratio, paradigm
    )
    left = [c for c in known if ratio and c not in ratio]
    if not faults and left:
        faults.append(f"ratio gives no share to {', '.join(left)} of paradigm {paradigm.id}; expected one for each condition")
    for name in design.between_participants:
        if name not in paradigm.factors:
            faults.append(
                f"between_participants names the factor {name!r}, which paradigm {paradigm.id} does not have; "
                f"it has {', '.join(paradigm.factors)}"
            )
    if design.trial == PAIR_TRIAL and not design.between_participants and len(known) != len(SIDES):
        faults.append(f"paradigm {paradigm.id} has {len(known)} conditions; expected two, since a trial shows a pair")
    return faults


def _find_rotation_faults(design: Design, ratio: Ratio) -> list[str]:
    total = sum(ratio.values())
    if not ratio or (total % design.lists == 0 or design.lists % total == 0):
        return []
    return [
        f"a ratio of {_format_ratio(ratio)} repeats every {total} items, which {design.lists} lists cannot rotate; "
        f"take {total} lists, or a multiple or divisor of {total}"
    ]


def _find_count_faults(design: Design, ratio: Ratio, paradigm: Paradigm, materials: Materials) -> Iterator[str]:
    """Yield why the paradigm's items do not divide into levels and shares."""
    groups = design._group_items_by_level(paradigm, materials)
    total = sum(ratio.values())
    missing = [
        f"item {item.id} has no {name!r}, which between_items names; expected a level in a column of that name"
        for items in groups.values()
        for item in items
        for name in design.between_items
        if name not in item.extra
    ]
    if missing:
        yield from missing[:3]
        return
    if design.items is not None and design.items % len(groups):
        yield f"{design.items} items of paradigm {paradigm.id} cannot be taken equally from {len(groups)} levels"
        return
    for level, items in groups.items():
        description = f"paradigm {paradigm.id}" + (f" at level {level}" if design.between_items else "")
        count = len(items) if design.items is None else design.items // len(groups)
        if len(items) < count:
            yield f"{description} has {len(items)} items, fewer than the {count} asked for"
        elif count % total and design.short_lists is None:
            yield (
                f"{count} items of {description} cannot be split {_format_ratio(ratio)} over {design.lists} lists: "
                f"{count} / {total} is not whole; use items = {(count - count % total) * len(groups)}"
            )


def _format_ratio(ratio: Ratio) -> str:
    return ":".join(str(share) for share in ratio.values())


def _find_unknown_conditions(what: str, ratio: Ratio, paradigm: Paradigm) -> list[str]:
    known = paradigm.list_conditions()
    return [
        f"{what} names the condition {c!r}, which paradigm {paradigm.id} does not have; it has {', '.join(known)}"
        for c in ratio
        if c not in known
    ]


def design(
    config: study.Study,
    materials: Materials | None = None,
    *,
    tasks_by_role: Mapping[str, Sequence[str]] | None = None,
    required_columns: Mapping[str, Sequence[str]] | None = None,
) -> list[TrialList]:
    """Return the lists that a study.toml asks for, dealt from its materials (read from its files unless given).

    `tasks_by_role` and `required_columns` are those of `Design.build_trial_lists`; `experiment.build_list_files` takes them from
    the study's tasks.

    >>> from importlib.resources import files
    >>> from gardenpath import stimuli, study
    >>> trial_lists = stimuli.design(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> [(trial_list.experiment, trial_list.id, len(trial_list.trials)) for trial_list in trial_lists[:2]]
    [('E1', 'L1', 39), ('E1', 'L2', 39)]
    """
    try:
        ordering = Ordering(**vars(config.ordering), breaks=config.procedure.breaks)
    except ValueError as error:
        raise study.DataError(f"{config.path}: {error}") from None
    settings = Design(**vars(config.design))
    materials = materials or read_study(config)
    try:
        return settings.build_trial_lists(
            materials, ordering=ordering, seed=config.seed, tasks_by_role=tasks_by_role, required_columns=required_columns
        )
    except ValueError as error:
        raise study.DataError(f"{config.path}: design: {fault}" for fault in str(error).split("\n")) from None
