"""gardenpath draft: more pairs of a paradigm, proposed by a chat model, with what is odd in them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.stimuli.drafting.drafts import Drafts, ModelReply
    from gardenpath.stimuli.drafting.requests import Wording
    from gardenpath.stimuli.items import Item

DRAFT_FILE, ANSWERS_FILE, REQUEST_FILE, UNREAD_FILE = "draft.jsonl", "answers.jsonl", "request.txt", "unread.txt"
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
MAX_AVOIDED_WORDS = 10  # overused words that a follow-up names
EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


class ChatSource(NamedTuple):
    """Who is asked: a name for the drafts, how it samples, and what it says next in a conversation."""

    name: str
    sampling: str
    generate_answer: Callable[[Sequence[dict[str, str]], int], str]


@click.command("draft")
@options.materials
@click.option("--paradigm", required=True, metavar="P", help="Paradigm whose hand-made pairs show the pattern.")
@click.option("-n", "wanted", type=click.IntRange(min=1), default=90, show_default=True, help="Pairs wanted.")
@click.option(
    "--pairs-per-request", type=click.IntRange(min=1), default=30, show_default=True, metavar="N", help="Pairs asked for at a time."
)
@click.option(
    "--model", metavar="M", help="A chat model loaded here: Hugging Face id or folder; the name of that of --endpoint or --paste."
)
@click.option("--endpoint", metavar="URL", help="OpenAI-compatible chat endpoint, such as http://localhost:8000/v1.")
@click.option("--send", is_flag=True, help="Let the request leave this machine, to an endpoint elsewhere.")
@click.option(
    "--paste", multiple=True, type=EXISTING_FILE, metavar="FILE", help="An answer that you saved from a chat; any number."
)
@click.option("--language", metavar="TAG", help="Language of items whose file states none.  [default: en]")
@click.option(
    "--request",
    "source",
    metavar="WORDS",
    help="Words of the request: 'published' (BLiMP-NL's, in Dutch) or a TOML file.  [default: ours, in the items' language]",
)
@click.option("--topic", default="", metavar="TEXT", help="What the sentences are to be about.")
@click.option("--avoid", multiple=True, metavar="WORD", help="A word to do without; words that come too often are added.")
@click.option("--temperature", type=click.FloatRange(min=0), default=1.0, show_default=True, help="0: the most probable token.")
@click.option(
    "--top-p",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.95,
    show_default=True,
    help="Share of probability sampled from.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of what is sampled.")
@options.output_path
@options.force
def command(
    materials: tuple[Path, ...],
    paradigm: str,
    wanted: int,
    pairs_per_request: int,
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
    from gardenpath.stimuli.drafting.drafts import build_drafts, select_seeds
    from gardenpath.stimuli.drafting.requests import format_first_request, format_follow_up, hash_prompt, read_wording
    from gardenpath.study.table_files import refuse_existing_tables

    if paste and endpoint:
        raise click.UsageError("--paste and --endpoint are given; expected one of them")
    if endpoint and not model:
        raise click.UsageError("--endpoint needs --model, the name of the model there")
    read = stimuli.read(*materials, language=language)
    _, seeds = select_seeds(read, paradigm)
    words = read_wording(seeds[0].language, source)
    request = format_first_request(
        seeds, words, min(pairs_per_request, wanted), topic=topic, avoid=avoid, language=_name_language(seeds[0].language, words)
    )
    if not (model or paste):
        click.echo(request)
        options.print_notice("\nPaste this into a chat, save the answer as text, and give it with  --paste ANSWER.txt")
        return
    messages = [{"role": "user", "content": request}]
    if endpoint and urlsplit(endpoint).hostname not in LOCAL_HOSTS and not send:
        click.echo(request)
        raise study.DataError(f"nothing was sent: the request above would leave this machine for {endpoint}; --send sends it")
    if not force:
        study.files.refuse_overwrite([out / DRAFT_FILE], force)
    if not paste:
        options.print_notice(f"{request}\n")
    if paste:
        answers = _read_pasted_answers(paste, model or "")
    else:
        chat_source = _build_chat_source(str(model), endpoint, temperature, top_p, seed)
        answers = _collect_answers(
            chat_source, messages, seeds, words, wanted, pairs_per_request, topic, avoid, out / ANSWERS_FILE, force, paradigm, read
        )
    drafts = build_drafts(read, paradigm, answers, words)
    if force or not (out / "drafting.csv").exists():
        refuse_existing_tables(out, "draft", force=True)
    notes = {"request": hash_prompt(messages), "answers": len(answers)}
    sidecar: dict[str, Any] = {
        "command": options.format_command_line(),
        "inputs": [*materials, *paste],
        "seed": seed,
        "notes": notes,
    }
    study.files.write_text(out / REQUEST_FILE, request + "\n")
    if paste:
        entries = [{"answer": one.text, "model": one.model, "sampling": one.sampling} for one in answers]
        study.files.write_text(out / ANSWERS_FILE, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in entries))
    unread_lines = [f"answer {number}, line {line.line}: {line.reason}: {line.text}\n" for number, line in drafts.unread_lines]
    study.files.write_text(out / UNREAD_FILE, "".join(unread_lines))
    stimuli.write(drafts.materials, out / DRAFT_FILE)
    study.files.write_sidecar(out / DRAFT_FILE, **sidecar)
    study.table_files.write_parts([{"drafting": drafts.drafting_table}], out, **sidecar)
    _print_drafts(drafts, out, wanted)
    missing_count = wanted - len(drafts.materials.items)
    if paste and drafts.materials.items and missing_count > 0:
        avoided = [*dict.fromkeys([*avoid, *list(drafts.overused_words)[:MAX_AVOIDED_WORDS]])]
        options.print_notice(
            f"{options.format_count(missing_count, 'pair')} to go; ask on in the same chat, and add another --paste, with --force:"
        )
        click.echo(format_follow_up(words, min(pairs_per_request, missing_count), topic=topic, avoid=avoided))
    if not drafts.materials.items:
        raise study.DataError(
            f"{out}: no pair could be read of {options.format_count(len(answers), 'answer')}; expected lines that begin "
            f"with {words.good}: and {words.bad}:"
        )


def _name_language(language: str, words: "Wording") -> str:
    """Return the name of the language in English, or its tag, where the request is in English and the sentences are not."""
    from importlib.util import find_spec

    import langcodes

    from gardenpath.stimuli.text_checks import get_base_language

    if get_base_language(language) == "en" or not words.other_language:
        return ""
    has_names = find_spec("language_data") is not None  # names of languages come in a package of their own, which few have
    return langcodes.Language.get(language).display_name() if has_names else f"the language {language} (BCP 47)"


def _build_chat_source(model: str, endpoint: str | None, temperature: float, top_p: float, seed: int) -> ChatSource:
    sampling = f"temperature {temperature:g}, top-p {top_p:g}, seed {seed}"
    if endpoint:
        from gardenpath.lmscore.models.endpoint import chat

        def ask_endpoint(messages: Sequence[dict[str, str]], turn: int) -> str:
            return chat(endpoint, model, messages, temperature=temperature, top_p=top_p, seed=seed + turn)

        return ChatSource(model, sampling, ask_endpoint)
    from gardenpath import lmscore
    from gardenpath.lmscore.judging.generation import continue_conversation

    loaded = lmscore.load(model)

    def ask_model(messages: Sequence[dict[str, str]], turn: int) -> str:
        return continue_conversation(loaded, messages, temperature=temperature, top_p=top_p, seed=seed + turn)

    return ChatSource(loaded.name, sampling, ask_model)


def _read_pasted_answers(paths: Sequence[Path], model: str) -> list["ModelReply"]:
    from gardenpath.stimuli.drafting.drafts import ModelReply
    from gardenpath.study.files import read_text

    return [ModelReply(read_text(path), model, "pasted") for path in paths]


def _collect_answers(
    source: ChatSource,
    first_messages: list[dict[str, str]],
    seeds: Sequence["Item"],
    words: "Wording",
    wanted: int,
    pairs_per_request: int,
    topic: str,
    avoid: Sequence[str],
    answers_path: Path,
    force: bool,
    paradigm: str,
    read: Any,
) -> list["ModelReply"]:
    """Return the answers, each kept as soon as it is there; those of an earlier run of the same request are taken as they are."""
    from gardenpath.stimuli.drafting.drafts import ModelReply, build_drafts
    from gardenpath.stimuli.drafting.requests import format_follow_up, hash_prompt

    entries = _read_earlier_answers(answers_path, first_messages, source, force)
    answers: list[ModelReply] = []
    messages, empty_turns, pair_count, turn = first_messages, 0, 0, 0
    with options.show_progress("pairs", wanted) as move:
        while pair_count < wanted and empty_turns < 2:
            count = min(pairs_per_request, wanted - pair_count)
            if turn < len(entries):
                text = str(entries[turn]["answer"])
            else:
                text = source.generate_answer(messages, turn)
                _append_answer(
                    answers_path, {"messages": messages, "answer": text, "model": source.name, "sampling": source.sampling}
                )
            answers.append(ModelReply(text, source.name, source.sampling, hash_prompt(first_messages), count))
            drafts = build_drafts(read, paradigm, answers, words)
            empty_turns = empty_turns + 1 if len(drafts.materials.items) == pair_count else 0
            pair_count, turn = len(drafts.materials.items), turn + 1
            move(min(pair_count, wanted), wanted)
            avoided = [*dict.fromkeys([*avoid, *list(drafts.overused_words)[:MAX_AVOIDED_WORDS]])]
            next_request = format_follow_up(words, min(pairs_per_request, max(wanted - pair_count, 1)), topic=topic, avoid=avoided)
            # The last exchange alone goes along, so that a conversation of any length fits the window.
            messages = [*first_messages, {"role": "assistant", "content": text}, {"role": "user", "content": next_request}]
    return answers


def _read_earlier_answers(
    answers_path: Path, first_messages: list[dict[str, str]], source: ChatSource, force: bool
) -> list[dict[str, Any]]:
    """Return the answers of an earlier run; those of another request raise `DataError`, or with `force` are removed."""
    from gardenpath import study

    if not answers_path.exists():
        return []
    entries = []
    # Lines end in \n alone: an answer may hold U+2028 and its kin, which splitlines takes for ends too.
    for number, line in enumerate(study.files.read_text(answers_path).split("\n"), start=1):
        if not line:
            continue
        try:
            entries.append(json.loads(line))
        except ValueError:
            raise study.DataError(f"{answers_path}, line {number}: no JSON; remove the line, or begin anew in another -o") from None
    request = (first_messages[0], source.name, source.sampling)
    if entries and (entries[0].get("messages", [None])[0], entries[0]["model"], entries[0]["sampling"]) != request:
        if force:
            answers_path.unlink()
            return []
        raise study.DataError(
            f"{answers_path}: holds answers of another request, model or sampling; another -o, or --force to begin anew"
        )
    options.print_notice(f"{answers_path}: {options.format_count(len(entries), 'answer')} of an earlier run")
    return entries


def _append_answer(answers_path: Path, entry: dict[str, Any]) -> None:
    answers_path.parent.mkdir(parents=True, exist_ok=True)
    with answers_path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry, ensure_ascii=False) + "\n")


def _print_drafts(drafts: "Drafts", out: Path, wanted: int) -> None:
    items = drafts.materials.items
    flagged = [item for item in items if item.extra.get("draft_findings")]
    options.print_notice(
        f"{out / DRAFT_FILE}: {options.format_count(len(items), 'pair')} of {wanted}, {len(flagged)} with findings"
    )
    for number, line in drafts.unread_lines[:3]:
        options.print_notice(f"not read: answer {number}, line {line.line}: {line.reason}: {line.text[:80]}")
    if len(drafts.unread_lines) > 3:
        options.print_notice(f"not read: {len(drafts.unread_lines) - 3} more lines, all of them in {out / UNREAD_FILE}")
    for item in flagged[:3]:
        options.print_notice(f"{item.id}: {item.extra['draft_findings']}")
    if items:
        options.print_notice(f"next:  gardenpath review {out / DRAFT_FILE} --reviewer YOU")
