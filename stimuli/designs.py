"""Counterbalanced designs: paradigms dealt to experiments, conditions to versions, and an order for each slot."""

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from gardenpath import study

from .experiment_dealing import dealt_apart, sharing, shown_twice
from .formats import marked_csv, read_study
from .items import Item, Materials, Paradigm, Question, Sentence
from .list_dealing import dealt_lists, in_rounds, kept_apart, list_faults
from .orderings import Ordering
from .question_dealing import Answers, LatinSquare, choose
from .task_shares import SHARED, ask, without
from .trials import ATTENTION, PRACTICE, Role, Trial, Version

PAIR = "pair"  # a trial that shows both members
SIDES = ("first", "second")

Ratio = Mapping[str, int]
Levels = Mapping[str, str]
Asked = Mapping[str, Answers]  # the answers of each item that a question is asked about


@dataclass(frozen=True)
class Rotation:
    """Items of a paradigm that go through its conditions together, in shares of `ratio`; `first` is where they begin."""

    role: Role
    paradigm: Paradigm
    items: Sequence[Item]
    ratio: Ratio
    first: int = 0

    @property
    def cycle(self) -> list[str]:
        """The conditions in the order of the versions, each as often as its share."""
        return [condition for condition, share in reversed(list(self.ratio.items())) for _ in range(share)]


@dataclass(frozen=True)
class Design(study.DesignSection):
    """How items are dealt, with unequal shares of conditions where asked for.

    `ratio` gives the share of each condition: {"grammatical": 2, "ungrammatical": 1} shows of nine items of a
    paradigm six in one and three in the other condition, different ones in each version (Suijkerbuijk et al. 2025,
    doi 10.1162/COLI.a.00559); without it shares are equal. `ratios` does so for single paradigms, by name: several
    experiments with conditions of their own may share a session, each the others' fillers. No participant
    sees two members of an item, unless `trial` is "pair": then each trial shows both, for a forced choice, and `ratio` says
    how often each comes on the first side.

    `between_items` names factors in which items differ (a column of theirs): every level is balanced in itself.
    `between_participants` names factors of the paradigms of which a participant sees one level: each level has `versions`
    of its own. `fillers` and `catch` name paradigms that are not targets: all their items are shown in every version of every
    experiment, in the conditions of `filler_ratio` (fillers only) or all equally often. `practice` are sentences (or pairs) shown
    first, as written, or sentences with a question; `attention` are instructions or nonsense among the rest. `share` names tasks
    that are asked of a share of targets and fillers. Of several experiments each has some of the paradigms, those of a phenomenon
    and those that share a sentence in different ones, as far as can be: nobody reads the same sentence of two paradigms. With
    `unequal_experiments` some may have one more than others.

    `lists` deals the items of an experiment to many small lists in place of versions: `items` of different paradigms a list, each
    in as many lists as it gets `readers`, in each condition (or with each first) as often as `ratio` says; of `catch` and
    `attention` each list has one more item, in turn (Warstadt et al. 2020, doi 10.1162/tacl_a_00321).

    A comprehension question is asked about an item in every version or in none,
    and the items are dealt to the conditions so that its right answers are in balance in each of them.

    >>> from gardenpath import stimuli
    >>> paradigm = stimuli.Paradigm("verbs", "voice", {"voice": ("active", "passive")})
    >>> pair = {"active": stimuli.Sentence("Dogs chase cats."), "passive": stimuli.Sentence("Cats are chased by dogs.")}
    >>> materials = stimuli.Materials((paradigm,), tuple(stimuli.Item(f"i{n}", "verbs", pair) for n in (1, 2, 3)))
    >>> versions = stimuli.Design({"active": 2, "passive": 1}, versions=3).deal(materials, seed=1)
    >>> [[trial.condition for trial in version.trials] for version in versions]
    [['passive', 'active', 'active'], ['active', 'active', 'passive'], ['active', 'passive', 'active']]
    """

    def deal(
        self,
        materials: Materials,
        *,
        ordering: Ordering | None = None,
        seed: int,
        asks: Mapping[str, Sequence[str]] | None = None,
        needing: Mapping[str, Sequence[str]] | None = None,
    ) -> list[Version]:
        """Return the versions of every experiment; where there can be none, raises `ValueError` with the arithmetic.

        `asks` names the tasks that follow a sentence of each role; `needing` names the fields or columns that
        a task needs: it is asked of the items that have them all.
        """
        if faults := _faults(self, materials):
            raise ValueError("\n".join(faults))
        ordering = ordering or Ordering()
        if self.lists is not None and (
            ordering.together or ordering.order != "random" or ordering.before or ordering.among != "all"
        ):
            raise ValueError(
                "lists beside ordering.together, order, before or among; expected versions in place of lists"
            )
        known = {item.id for item in materials.items}
        if unknown := [item for chain in ordering.before for item in chain if item not in known]:
            raise ValueError(
                f"ordering.before names {unknown[0]!r}, which no item is called; expected items of the materials"
            )
        stands = {item.id: n for n, item in enumerate(materials.items)}
        chosen = {p.id: self._chosen(p, materials) for p in self._targets(materials)}
        same = [*self._practice(materials), *self._attention(materials)]
        asks, needing = asks or {}, needing or {}
        versions = []
        for e, dealt in enumerate(self._experiments(chosen, materials, seed), start=1):
            if self.lists is not None:
                pool, lists = self._in_lists(materials, dealt, self.lists, f"{seed}-lists-E{e}")
                pool = tuple(_asked(trial, asks.get(trial.role, ()), needing) for trial in pool)
                versions.append(Version("V1", f"E{e}", pool, ordering, seed, lists=lists))
                continue
            about = self._about(materials, dealt, f"{seed}-share-{{}}-E{e}", asks, needing)
            turns = itertools.product(self._parts(materials), range(self.versions))
            for n, (levels, turn) in enumerate(turns, start=1):
                trials = [*same, *self._dealt(materials, dealt, levels, turn, about)]
                if ordering.order != "random":
                    trials.sort(key=lambda trial: stands.get(trial.item.id, -1))
                place = f"E{e}", f"V{n}"
                asked = tuple(_asked(trial, asks.get(trial.role, ()), needing) for trial in trials)
                for name, share in self.share.items() if asks else ():
                    if name in about:
                        asked = tuple(
                            t if t.role not in SHARED or t.item.id in about[name] else without(t, name) for t in asked
                        )
                    else:
                        asked = ask(asked, name, share, Random(f"{seed}-share-{name}-{'-'.join(place)}"))
                versions.append(Version(place[1], place[0], asked, ordering, seed, levels))
        if twice := list(shown_twice(versions)):
            raise ValueError("\n".join(twice))
        return versions

    def _targets(self, materials: Materials) -> list[Paradigm]:
        return [p for p in materials.paradigms if p.id not in (*self.fillers, *self.catch)]

    def _chosen(self, paradigm: Paradigm, materials: Materials) -> list[list[Item]]:
        """Return the paradigm's first items by level of the factors between items, equally many of each."""
        groups = self._groups(paradigm, materials).values()
        return [items if self.items is None else items[: self.items // len(groups)] for items in groups]

    def _groups(self, paradigm: Paradigm, materials: Materials) -> dict[str, list[Item]]:
        groups: dict[str, list[Item]] = {}
        for item in materials.items:
            if item.paradigm == paradigm.id:
                groups.setdefault(", ".join(item.extra.get(name, "") for name in self.between_items), []).append(item)
        return groups

    def _experiments(self, chosen: Mapping[str, list[list[Item]]], materials: Materials, seed: int) -> list[list[str]]:
        """Deal the paradigms at random to experiments of equal size, those of a phenomenon, or with a sentence in common, apart."""
        if self.experiments == 1:
            return [[*chosen]]
        names = [*chosen]
        Random(f"{seed}-experiments").shuffle(names)
        phenomenon = {name: materials.paradigm(name).phenomenon for name in names}
        items = {name: [item for level in levels for item in level] for name, levels in chosen.items()}
        return dealt_apart(names, phenomenon, sharing(items), self.experiments)

    def _parts(self, materials: Materials) -> list[dict[str, str]]:
        """Return the levels that vary between participants."""
        first = self._targets(materials)[0]
        products = itertools.product(*(first.factors[name] for name in self.between_participants))
        return [dict(zip(self.between_participants, levels, strict=True)) for levels in products]

    def _shares(self, paradigm: Paradigm, materials: Materials, levels: Levels) -> Ratio:
        """Return the shares of a target paradigm's conditions that have these levels."""
        own, first = paradigm.conditions(), self._targets(materials)[0].conditions()
        equal = dict.fromkeys(first if first.keys() == own.keys() else own, 1)
        ratio = self.ratios.get(paradigm.id) or self.ratio or equal
        return {c: n for c, n in ratio.items() if levels.items() <= own[c].items()}

    def _dealt(
        self, materials: Materials, dealt: Iterable[str], levels: Levels, turn: int, about: Mapping[str, Asked]
    ) -> Iterator[Trial]:
        """Yield the trials of a version: an item at place i of paradigm p in the (i + p + turn)-th condition of the cycle."""
        squares: dict[tuple[str, ...], LatinSquare] = defaultdict(LatinSquare)
        for rotation in self._rotations(materials, dealt, levels):
            target, total = rotation.role == "target", len(rotation.cycle)
            step = total // self.versions if target and total % self.versions == 0 else 1
            kinds = [
                tuple((name, *asked[i.id]) for name, asked in about.items() if i.id in asked) for i in rotation.items
            ]
            places = squares[rotation.role, *(rotation.cycle if target else ())].places(
                kinds, rotation.cycle, rotation.first
            )
            first = rotation.first + turn * step
            for item, place in zip(rotation.items, places, strict=True):
                yield self._trial(rotation, item, rotation.cycle[(place + first) % len(rotation.cycle)])

    def _in_lists(
        self, materials: Materials, dealt: Sequence[str], lists: study.ListsSection, seed: str
    ) -> tuple[tuple[Trial, ...], tuple[tuple[int, ...], ...]]:
        """Return the trials of an experiment, and its lists as positions in them; raises `ValueError` where there are none."""
        rotations = list(self._rotations(materials, dealt, {}))
        rotation_of = {item.id: rotation for rotation in rotations for item in rotation.items}
        items: dict[str, list[Item]] = {}
        for rotation in rotations:
            if rotation.role == "target":
                for item in rotation.items:
                    items.setdefault(kept_apart(item, lists), []).append(item)
        if faults := list(list_faults({name: len(some) for name, some in items.items()}, lists)):
            where = f"experiment {seed.rpartition('-')[2]}: " if self.experiments > 1 else ""
            raise ValueError("\n".join(where + fault for fault in faults))
        chosen, random = dealt_lists(items, lists, seed), Random(f"{seed}-sides")
        catch = [item for rotation in rotations if rotation.role == "catch" for item in rotation.items]
        for some, item in zip(chosen, in_rounds(catch, len(chosen) if catch else 0, random), strict=False):
            some.append(item)
        times = Counter(item.id for some in chosen for item in some)
        conditions = {id: in_rounds(rotation_of[id].cycle, times[id], random) for id in rotation_of}
        pool = [*self._practice(materials), *self._attention(materials)]
        extra = [n for n, trial in enumerate(pool) if trial.role == ATTENTION]
        attention = in_rounds(extra, len(chosen) if extra else 0, random)
        drawn = [[(item.id, next(conditions[item.id])) for item in some] for some in chosen]
        used = {shown for some in drawn for shown in some}
        at: dict[tuple[str, str], int] = {}
        for rotation in rotations:
            for item, condition in itertools.product(rotation.items, rotation.ratio):
                if (item.id, condition) in used:
                    at[item.id, condition] = len(pool)
                    pool.append(self._trial(rotation, item, condition))
        return tuple(pool), tuple((*(at[shown] for shown in some), *itertools.islice(attention, 1)) for some in drawn)

    def _rotations(self, materials: Materials, dealt: Iterable[str], levels: Levels) -> Iterator[Rotation]:
        for p, name in enumerate(dealt):
            paradigm = materials.paradigm(name)
            for items in self._chosen(paradigm, materials):
                yield Rotation("target", paradigm, items, self._shares(paradigm, materials, levels), p)
        others: list[tuple[Role, str]] = [("filler", f) for f in self.fillers] + [("catch", c) for c in self.catch]
        for role, name in others:
            paradigm = materials.paradigm(name)
            items = [item for item in materials.items if item.paradigm == name]
            yield Rotation(role, paradigm, items, self._other_ratio(role, paradigm))

    def _about(
        self,
        materials: Materials,
        dealt: Iterable[str],
        seed: str,
        asks: Mapping[str, Sequence[str]],
        needing: Mapping[str, Sequence[str]],
    ) -> dict[str, Asked]:
        """Return the items that each comprehension question is asked about, the same ones in every version, with their answers."""
        rotations = list(self._rotations(materials, dealt, {}))
        shared = sum(len(rotation.items) for rotation in rotations if rotation.role in SHARED)
        about: dict[str, Asked] = {}
        for name, needs in needing.items():
            if not asks or "question" not in needs:
                continue
            groups = [(r.role, self._answers(r, needs)) for r in rotations if name in asks.get(r.role, ())]
            about[name] = {item: answers for _, group in groups for item, answers in group.items()}
            if name in self.share:
                some = [group for role, group in groups if role in SHARED]
                chosen = choose(name, self.share[name], shared, some, Random(seed.format(name)))
                left = {item for group in some for item in group} - chosen
                about[name] = {item: answers for item, answers in about[name].items() if item not in left}
        return about

    def _answers(self, rotation: Rotation, needs: Sequence[str]) -> Asked:
        """Return the answers, at each place of the cycle, to the question about each item that has one and what else is needed."""
        answers = {}
        for item in rotation.items:
            trials = [self._trial(rotation, item, condition) for condition in rotation.cycle]
            told = [trial.answer() for trial in trials if all(map(trial.has, needs))]
            right = tuple(answer for answer in told if answer is not None)
            if len(right) == len(trials):
                answers[item.id] = right
        return answers

    def _other_ratio(self, role: Role, paradigm: Paradigm) -> Ratio:
        ratio = self.filler_ratio if role == "filler" else {}
        return ratio or dict.fromkeys(paradigm.conditions(), 1)

    def _trial(self, rotation: Rotation, item: Item, first: str) -> Trial:
        """Return the trial that shows an item in a condition, or in a pair this one first."""
        names = [first, *(c for c in rotation.ratio if c != first)] if self.trial == PAIR else [first]
        shown = tuple((name, item.sentences[name]) for name in names)
        return Trial(rotation.role, item, shown, factors=self._factors(rotation.paradigm, item, names))

    def _factors(self, paradigm: Paradigm, item: Item, names: Sequence[str]) -> dict[str, str]:
        """Return the phenomenon and the levels that all shown conditions share, of the paradigm's and the item's factors."""
        conditions = paradigm.conditions()
        shared = set.intersection(*(set(conditions[name].items()) for name in names))
        within = {factor: level for factor, level in conditions[names[0]].items() if (factor, level) in shared}
        between = {name: item.extra[name] for name in self.between_items if name in item.extra}
        return {"phenomenon": paradigm.phenomenon, **within, **between}

    def _practice(self, materials: Materials) -> Iterator[Trial]:
        for n, section in enumerate(self.practice, start=1):
            if not isinstance(section, study.PracticeSection):
                yield self._written(PRACTICE, PRACTICE, n, section, materials)
                continue
            trial = self._written(PRACTICE, PRACTICE, n, section.sentence, materials)
            question = None
            if section.question is not None and section.answer is not None:
                choices = tuple(section.choices) or study.polar_answers.yes_no(trial.item.language)
                answer = (
                    section.answer
                    if section.choices
                    else study.polar_answers.as_yes_no(section.answer, trial.item.language)
                )
                question = Question(section.question, {PRACTICE: answer}, choices)
            sentences = {PRACTICE: _practised(section)}
            item = replace(
                trial.item, sentences=sentences, question=question, extra=dict(section.columns), context=section.context
            )
            yield replace(trial, item=item, shown=tuple(sentences.items()))

    def _attention(self, materials: Materials) -> Iterator[Trial]:
        for n, section in enumerate(self.attention, start=1):
            expected = {name: tuple(responses) for name, responses in section.responses.items()}
            yield self._written(ATTENTION, section.kind, n, section.sentence, materials, expected)

    def _written(
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
        sentences = {name: Sentence(*marked_csv.parse(text)) for name, text in written.items()}
        language = materials.items[0].language if materials.items else "en"
        item = Item(f"{role}-{number}", role, sentences, language)
        return Trial(role, item, tuple(sentences.items()), expected=expected or {})


def _practised(section: study.PracticeSection) -> Sentence:
    """Return a practice sentence with its words as they are stated."""
    text, regions = marked_csv.parse(section.sentence)
    alternatives = None if section.alternatives is None else tuple(section.alternatives.split())
    return Sentence(text, regions, marked_csv.words_in(text, section.segmentation or ""), alternatives=alternatives)


def _asked(trial: Trial, names: Sequence[str], needing: Mapping[str, Sequence[str]]) -> Trial:
    """Return a trial with the tasks that follow it; one that needs a field or a column is asked where the item has it."""
    return replace(trial, prompts=tuple(name for name in names if all(map(trial.has, needing.get(name, ())))))


def _faults(design: Design, materials: Materials) -> list[str]:
    """Return every reason why the materials cannot be dealt this way."""
    known = [paradigm.id for paradigm in materials.paradigms]
    unknown = [
        f"{what} names {', '.join(absent)}, which the materials do not have; they have {', '.join(known)}"
        for what, names in (("fillers", design.fillers), ("catch", design.catch), ("ratios", design.ratios))
        if (absent := [name for name in names if name not in known])
    ]
    if unknown:
        return unknown
    faults = list(_written_faults(design))
    targets = design._targets(materials)
    each, more = divmod(len(targets), design.experiments)
    if not each or (more and not design.unequal_experiments):
        unequal = (
            f"; expected unequal_experiments = true, for {more} of {each + 1} and {design.experiments - more} of {each}"
        )
        faults.append(
            f"{len(targets)} paradigms cannot be dealt equally to {design.experiments} experiments{unequal if each else ''}"
        )
    shares = [fault for paradigm in targets for fault in _share_faults(design, paradigm)]
    shares += [
        f"ratios names {name}, which is no target; expected filler_ratio, or none for catch sentences"
        for name in design.ratios
        if name in (*design.fillers, *design.catch)
    ]
    for name in design.fillers:
        shares += _unknown("filler_ratio", design.filler_ratio, materials.paradigm(name))
    for name in (*design.fillers, *design.catch) if design.trial == PAIR else ():
        conditions = materials.paradigm(name).conditions()
        if len(conditions) != len(SIDES):
            shares.append(f"paradigm {name} has {len(conditions)} conditions; expected two, since a trial shows a pair")
    if shares or not targets:
        return [*faults, *shares]
    shown = [(p, design._shares(p, materials, levels)) for levels in design._parts(materials) for p in targets]
    ratios = [ratio for _, ratio in shown]
    if design.lists is not None:
        beside = ("fillers", "share", "between_participants")
        faults += [f"lists have no {name}; expected it left out" for name in beside if getattr(design, name)]
    faults += dict.fromkeys(fault for ratio in ratios for fault in _rotation_faults(design, ratio))
    together = math.lcm(*(sum(ratio.values()) for ratio in ratios))
    if len({sum(ratio.values()) for ratio in ratios}) > 1 and any(_rotation_faults(design, ratio) for ratio in ratios):
        faults.append(f"{together} versions rotate the conditions of all paradigms")
    counts = [f for p, ratio in shown for f in _count_faults(design, ratio, p, materials)]
    return [*faults, *dict.fromkeys(counts)]


def _written_faults(design: Design) -> Iterator[str]:
    """Yield what is wrong with the sentences written in the design itself, and with questions after a pair."""
    pair = design.trial == PAIR
    expected = "two, since a trial shows a pair" if pair else "one"
    written: list[tuple[str, int, str | list[str]]] = [
        ("practice", n, section.sentence if isinstance(section, study.PracticeSection) else section)
        for n, section in enumerate(design.practice, start=1)
    ]
    written += [("attention", n, section.sentence) for n, section in enumerate(design.attention, start=1)]
    for n, section in enumerate(design.practice, start=1):
        try:
            if isinstance(section, study.PracticeSection):
                _practised(section)
        except ValueError as error:
            yield f"practice {n}: {error}"
    for what, n, texts in written:
        count = 1 if isinstance(texts, str) else len(texts)
        if count != (len(SIDES) if pair else 1) or (not pair and not isinstance(texts, str)):
            yield f"{what} {n} has {count} sentence{'s' if count != 1 else ''}; expected {expected}"


def _share_faults(design: Design, paradigm: Paradigm) -> list[str]:
    known = paradigm.conditions()
    ratio = design.ratios.get(paradigm.id) or design.ratio
    faults = _unknown(f"ratios.{paradigm.id}" if paradigm.id in design.ratios else "ratio", ratio, paradigm)
    left = [c for c in known if ratio and c not in ratio]
    if not faults and left:
        faults.append(
            f"ratio gives no share to {', '.join(left)} of paradigm {paradigm.id}; expected one for each condition"
        )
    for name in design.between_participants:
        if name not in paradigm.factors:
            faults.append(
                f"between_participants names the factor {name!r}, which paradigm {paradigm.id} does not have; "
                f"it has {', '.join(paradigm.factors)}"
            )
    if design.trial == PAIR and not design.between_participants and len(known) != len(SIDES):
        faults.append(f"paradigm {paradigm.id} has {len(known)} conditions; expected two, since a trial shows a pair")
    return faults


def _rotation_faults(design: Design, ratio: Ratio) -> list[str]:
    total = sum(ratio.values())
    if not ratio or (total % design.versions == 0 or design.versions % total == 0):
        return []
    return [
        f"a ratio of {_spelled(ratio)} repeats every {total} items, which {design.versions} versions cannot rotate; "
        f"take {total} versions, or a multiple or divisor of {total}"
    ]


def _count_faults(design: Design, ratio: Ratio, paradigm: Paradigm, materials: Materials) -> Iterator[str]:
    """Yield why the paradigm's items do not divide into levels and shares."""
    groups = design._groups(paradigm, materials)
    total = sum(ratio.values())
    lacking = [
        f"item {item.id} has no {name!r}, which between_items names; expected a level in a column of that name"
        for items in groups.values()
        for item in items
        for name in design.between_items
        if name not in item.extra
    ]
    if lacking:
        yield from lacking[:3]
        return
    if design.items is not None and design.items % len(groups):
        yield f"{design.items} items of paradigm {paradigm.id} cannot be taken equally from {len(groups)} levels"
        return
    for level, items in groups.items():
        of = f"paradigm {paradigm.id}" + (f" at level {level}" if design.between_items else "")
        count = len(items) if design.items is None else design.items // len(groups)
        if len(items) < count:
            yield f"{of} has {len(items)} items, fewer than the {count} asked for"
        elif count % total and design.lists is None:
            yield (
                f"{count} items of {of} cannot be split {_spelled(ratio)} over {design.versions} versions: "
                f"{count} / {total} is not whole; use items = {(count - count % total) * len(groups)}"
            )


def _spelled(ratio: Ratio) -> str:
    return ":".join(str(share) for share in ratio.values())


def _unknown(what: str, ratio: Ratio, paradigm: Paradigm) -> list[str]:
    known = paradigm.conditions()
    return [
        f"{what} names the condition {c!r}, which paradigm {paradigm.id} does not have; it has {', '.join(known)}"
        for c in ratio
        if c not in known
    ]


def design(
    plan: study.Study,
    materials: Materials | None = None,
    *,
    asks: Mapping[str, Sequence[str]] | None = None,
    needing: Mapping[str, Sequence[str]] | None = None,
) -> list[Version]:
    """Return the versions that a study.toml asks for, dealt from its materials (read from its files unless given).

    `asks` and `needing` are those of `Design.deal`; `experiment.version_files` takes them from the study's tasks.

    >>> from importlib.resources import files
    >>> from gardenpath import stimuli, study
    >>> versions = stimuli.design(study.load(files("gardenpath.examples") / "minimal-pairs"))
    >>> [(version.experiment, version.id, len(version.trials)) for version in versions[:2]]
    [('E1', 'V1', 39), ('E1', 'V2', 39)]
    """
    try:
        ordering = Ordering(**vars(plan.ordering), breaks=plan.procedure.breaks)
    except ValueError as error:
        raise study.DataError(f"{plan.path}: {error}") from None
    settings = Design(**vars(plan.design))
    materials = materials or read_study(plan)
    try:
        return settings.deal(materials, ordering=ordering, seed=plan.seed, asks=asks, needing=needing)
    except ValueError as error:
        raise study.DataError(f"{plan.path}: design: {fault}" for fault in str(error).split("\n")) from None
