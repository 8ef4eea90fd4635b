"""gardenpath draft: more pairs of a paradigm, proposed by a chat model, with what is odd in them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.stimuli.drafting.drafting import Answer, Drafts
    from gardenpath.stimuli.drafting.requests import Wording
    from gardenpath.stimuli.items import Item

DRAFT, ANSWERS, REQUEST, UNREAD = "draft.jsonl", "answers.jsonl", "request.txt", "unread.txt"
HERE = ("localhost", "127.0.0.1", "::1")
AVOIDED = 10  # overused words that a follow-up names
file = click.Path(path_type=Path, exists=True, dir_okay=False)


class Source(NamedTuple):
    """Who is asked: a name for the drafts, how it samples, and what it says next in a conversation."""

    name: str
    sampling: str
    says: Callable[[Sequence[dict[str, str]], int], str]


@click.command("draft")
@options.materials
@click.option("--paradigm", required=True, metavar="P", help="Paradigm whose hand-made pairs show the pattern.")
@click.option("-n", "wanted", type=click.IntRange(min=1), default=90, show_default=True, help="Pairs wanted.")
@click.option(
    "--each", type=click.IntRange(min=1), default=30, show_default=True, metavar="N", help="Pairs asked for at a time."
)
@click.option(
    "--model",
    metavar="M",
    help="A chat model loaded here: Hugging Face id or folder; the name of that of --endpoint or --paste.",
)
@click.option("--endpoint", metavar="URL", help="OpenAI-compatible chat endpoint, such as http://localhost:8000/v1.")
@click.option("--send", is_flag=True, help="Let the request leave this machine, to an endpoint elsewhere.")
@click.option(
    "--paste", multiple=True, type=file, metavar="FILE", help="An answer that you saved from a chat; any number."
)
@click.option("--language", metavar="TAG", help="Language of items whose file states none.  [default: en]")
@click.option(
    "--request",
    "source",
    metavar="WORDS",
    help="Words of the request: 'published' (BLiMP-NL's, in Dutch) or a TOML file.  [default: ours, in the items' language]",
)
@click.option("--topic", default="", metavar="TEXT", help="What the sentences are to be about.")
@click.option(
    "--avoid", multiple=True, metavar="WORD", help="A word to do without; words that come too often are added."
)
@click.option(
    "--temperature", type=click.FloatRange(min=0), default=1.0, show_default=True, help="0: the most probable token."
)
@click.option(
    "--top-p",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.95,
    show_default=True,
    help="Share of probability sampled from.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of what is sampled.")
@options.out
@options.force
def command(
    materials: tuple[Path, ...],
    paradigm: str,
    wanted: int,
    each: int,
    model: str | None,
    endpoint: str | None,
    send: bool,
    paste: tuple[Path, ...],
    language: str | None,
    source: str | None,
    topic: str,
    avoid: tuple[str, ...],
    temperature: float,
    top_p: float,
    seed: int,
    out: Path,
    force: bool,
) -> None:
    """Draft more pairs of a paradigm of MATERIALS by a chat model, or from answers that you paste.

    Without --model or --paste the request is printed, for a chat in your browser. Writes draft.jsonl (items with their
    origin and findings), the table drafting, request.txt and the raw answers, of which none is asked for twice. Nothing is
    dropped: `gardenpath review` is for that.
    """
    from gardenpath import stimuli, study
    from gardenpath.stimuli.drafting.drafting import draft, seeds_of
    from gardenpath.stimuli.drafting.requests import first_request, follow_up, prompt_hash, wording
    from gardenpath.study.table_files import refuse_tables

    if paste and endpoint:
        raise click.UsageError("--paste and --endpoint are given; expected one of them")
    if endpoint and not model:
        raise click.UsageError("--endpoint needs --model, the name of the model there")
    read = stimuli.read(*materials, language=language)
    _, seeds = seeds_of(read, paradigm)
    words = wording(seeds[0].language, source)
    request = first_request(
        seeds, words, min(each, wanted), topic=topic, avoid=avoid, language=_named(seeds[0].language, words)
    )
    if not (model or paste):
        click.echo(request)
        options.talk("\nPaste this into a chat, save the answer as text, and give it with  --paste ANSWER.txt")
        return
    messages = [{"role": "user", "content": request}]
    if endpoint and urlsplit(endpoint).hostname not in HERE and not send:
        click.echo(request)
        raise study.DataError(
            f"nothing was sent: the request above would leave this machine for {endpoint}; --send sends it"
        )
    if not force:
        study.files.refuse_overwrite([out / DRAFT], force)
    if not paste:
        options.talk(f"{request}\n")
    if paste:
        answers = _pasted(paste, model or "")
    else:
        asked = _source(str(model), endpoint, temperature, top_p, seed)
        answers = _answers(
            asked, messages, seeds, words, wanted, each, topic, avoid, out / ANSWERS, force, paradigm, read
        )
    done = draft(read, paradigm, answers, words)
    if force or not (out / "drafting.csv").exists():
        refuse_tables(out, "draft", force=True)
    notes = {"request": prompt_hash(messages), "answers": len(answers)}
    about: dict[str, Any] = {"command": options.typed(), "inputs": [*materials, *paste], "seed": seed, "notes": notes}
    study.files.write_text(out / REQUEST, request + "\n")
    if paste:
        kept = [{"answer": one.text, "model": one.model, "sampling": one.sampling} for one in answers]
        study.files.write_text(out / ANSWERS, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in kept))
    listed = [f"answer {number}, line {line.line}: {line.reason}: {line.text}\n" for number, line in done.unread]
    study.files.write_text(out / UNREAD, "".join(listed))
    stimuli.write(done.materials, out / DRAFT)
    study.files.write_sidecar(out / DRAFT, **about)
    study.table_files.write_parts([{"drafting": done.drafting}], out, **about)
    _say(done, out, wanted)
    lacking = wanted - len(done.materials.items)
    if paste and done.materials.items and lacking > 0:
        often = [*dict.fromkeys([*avoid, *list(done.overused)[:AVOIDED]])]
        options.talk(
            f"{options.count(lacking, 'pair')} to go; ask on in the same chat, and add another --paste, with --force:"
        )
        click.echo(follow_up(words, min(each, lacking), topic=topic, avoid=often))
    if not done.materials.items:
        raise study.DataError(
            f"{out}: no pair could be read of {options.count(len(answers), 'answer')}; expected lines that begin "
            f"with {words.good}: and {words.bad}:"
        )


def _named(language: str, words: "Wording") -> str:
    """Return the name of the language in English, or its tag, where the request is in English and the sentences are not."""
    from importlib.util import find_spec

    import langcodes

    from gardenpath.stimuli.text_checks import base_language

    if base_language(language) == "en" or not words.other_language:
        return ""
    named = find_spec("language_data") is not None  # names of languages come in a package of their own, which few have
    return langcodes.Language.get(language).display_name() if named else f"the language {language} (BCP 47)"


def _source(model: str, endpoint: str | None, temperature: float, top_p: float, seed: int) -> Source:
    sampling = f"temperature {temperature:g}, top-p {top_p:g}, seed {seed}"
    if endpoint:
        from gardenpath.lmscore.models.endpoint import chat

        def told(messages: Sequence[dict[str, str]], turn: int) -> str:
            return chat(endpoint, model, messages, temperature=temperature, top_p=top_p, seed=seed + turn)

        return Source(model, sampling, told)
    from gardenpath import lmscore
    from gardenpath.lmscore.judging.generation import conversation

    loaded = lmscore.load(model)

    def said(messages: Sequence[dict[str, str]], turn: int) -> str:
        return conversation(loaded, messages, temperature=temperature, top_p=top_p, seed=seed + turn)

    return Source(loaded.name, sampling, said)


def _pasted(paths: Sequence[Path], model: str) -> list["Answer"]:
    from gardenpath.stimuli.drafting.drafting import Answer
    from gardenpath.study.files import read_text

    return [Answer(read_text(path), model, "pasted") for path in paths]


def _answers(
    source: Source,
    first: list[dict[str, str]],
    seeds: Sequence["Item"],
    words: "Wording",
    wanted: int,
    each: int,
    topic: str,
    avoid: Sequence[str],
    kept: Path,
    force: bool,
    paradigm: str,
    read: Any,
) -> list["Answer"]:
    """Return the answers, each kept as soon as it is there; those of an earlier run of the same request are taken as they are."""
    from gardenpath.stimuli.drafting.drafting import Answer, draft
    from gardenpath.stimuli.drafting.requests import follow_up, prompt_hash

    records = _records(kept, first, source, force)
    answers: list[Answer] = []
    messages, empty, parsed, turn = first, 0, 0, 0
    with options.progress("pairs", wanted) as move:
        while parsed < wanted and empty < 2:
            count = min(each, wanted - parsed)
            if turn < len(records):
                text = str(records[turn]["answer"])
            else:
                text = source.says(messages, turn)
                _keep(kept, {"messages": messages, "answer": text, "model": source.name, "sampling": source.sampling})
            answers.append(Answer(text, source.name, source.sampling, prompt_hash(first), count))
            so_far = draft(read, paradigm, answers, words)
            empty = empty + 1 if len(so_far.materials.items) == parsed else 0
            parsed, turn = len(so_far.materials.items), turn + 1
            move(min(parsed, wanted), wanted)
            often = [*dict.fromkeys([*avoid, *list(so_far.overused)[:AVOIDED]])]
            more = follow_up(words, min(each, max(wanted - parsed, 1)), topic=topic, avoid=often)
            # The last exchange alone goes along, so that a conversation of any length fits the window.
            messages = [*first, {"role": "assistant", "content": text}, {"role": "user", "content": more}]
    return answers


def _records(kept: Path, first: list[dict[str, str]], source: Source, force: bool) -> list[dict[str, Any]]:
    """Return the answers of an earlier run; those of another request raise `DataError`, or with `force` are removed."""
    from gardenpath import study

    if not kept.exists():
        return []
    records = []
    # Lines end in \n alone: an answer may hold U+2028 and its kin, which splitlines takes for ends too.
    for number, line in enumerate(study.files.read_text(kept).split("\n"), start=1):
        if not line:
            continue
        try:
            records.append(json.loads(line))
        except ValueError:
            raise study.DataError(
                f"{kept}, line {number}: no JSON; remove the line, or begin anew in another -o"
            ) from None
    own = (first[0], source.name, source.sampling)
    if records and (records[0].get("messages", [None])[0], records[0]["model"], records[0]["sampling"]) != own:
        if force:
            kept.unlink()
            return []
        raise study.DataError(
            f"{kept}: holds answers of another request, model or sampling; another -o, or --force to begin anew"
        )
    options.talk(f"{kept}: {options.count(len(records), 'answer')} of an earlier run")
    return records


def _keep(kept: Path, record: dict[str, Any]) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with kept.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record, ensure_ascii=False) + "\n")


def _say(done: "Drafts", out: Path, wanted: int) -> None:
    items = done.materials.items
    flagged = [item for item in items if item.extra.get("draft_findings")]
    options.talk(f"{out / DRAFT}: {options.count(len(items), 'pair')} of {wanted}, {len(flagged)} with findings")
    for number, line in done.unread[:3]:
        options.talk(f"not read: answer {number}, line {line.line}: {line.reason}: {line.text[:80]}")
    if len(done.unread) > 3:
        options.talk(f"not read: {len(done.unread) - 3} more lines, all of them in {out / UNREAD}")
    for item in flagged[:3]:
        options.talk(f"{item.id}: {item.extra['draft_findings']}")
    if items:
        options.talk(f"next:  gardenpath review {out / DRAFT} --reviewer YOU")
