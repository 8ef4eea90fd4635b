"""gardenpath review: people decide about drafts on one page of this machine, and what they decided becomes materials."""

import hashlib
import secrets
import webbrowser
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import options

if TYPE_CHECKING:
    from gardenpath.stimuli import Materials
    from gardenpath.stimuli.drafting.reviews import Decision

LOG_FILE = "reviews.jsonl"
MAX_SENTENCES_NAMED = 5  # sentences that are spelt out


@click.command("review")
@click.argument("draft", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--reviewer", metavar="NAME", help="Who decides; each has an order of their own.")
@click.option("--adjudicate", metavar="NAME", help="Who settles the pairs on which reviewers do not agree.")
@click.option("--blind", is_flag=True, help="Single sentences, nothing said of them: acceptable or not.")
@click.option(
    "--guidelines",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Text (Markdown) that stands beside each pair; its hash goes into each decision.",
)
@click.option("--log", "log", type=click.Path(path_type=Path), help="File of all decisions.  [default: reviews.jsonl beside]")
@click.option(
    "--inject-known-errors",
    "known_bad_share",
    type=click.FloatRange(0, 0.5),
    default=0.07,
    show_default=True,
    help="Share of known-bad pairs among the others.",
)
@click.option("--port", type=int, default=0, help="Port of the page.  [default: a free one]")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page.")
@click.option("--agreement", "agree", is_flag=True, help="How far reviewers agree, instead of the page.")
@click.option("--write", "out", type=click.Path(path_type=Path), metavar="FILE", help="Write the kept pairs, instead of the page.")
@options.force
def command(
    draft: Path,
    reviewer: str | None,
    adjudicate: str | None,
    blind: bool,
    guidelines: Path | None,
    log: Path | None,
    known_bad_share: float,
    port: int,
    browser: bool,
    agree: bool,
    out: Path | None,
    force: bool,
) -> None:
    """Review the pairs of DRAFT on a page of this machine, by keys: tick, accept, correct, or drop with a reason.

    Each decision is added to the log at once and nothing is overwritten, so that a review can be left and gone on with, and several
    people can review the same draft. --agreement writes the table review_agreement and says who noticed the known-bad pairs;
    --adjudicate shows a third person what the others do not agree on; --write makes the kept pairs into materials.
    """
    from gardenpath import stimuli, study
    from gardenpath.stimuli.drafting.reviews import build_queue, find_disagreements, read_log

    modes = [
        name
        for name, value in (("--reviewer", reviewer), ("--adjudicate", adjudicate), ("--agreement", agree), ("--write", out))
        if value
    ]
    if len(modes) != 1:
        raise click.UsageError(
            f"{' and '.join(modes) or 'nothing'} is given; expected one of --reviewer, --adjudicate, --agreement, --write"
        )
    materials = stimuli.read(draft)
    log = log or draft.with_name(LOG_FILE)
    decisions, broken_lines = read_log(log)
    for line in broken_lines:
        options.print_notice(line)
    if agree:
        _write_agreement(decisions, draft, log, force)
        return
    if out:
        _write_kept_pairs(materials, decisions, draft, log, out, force)
        return
    reviewer_name = str(reviewer or adjudicate)
    if adjudicate:
        disputed_items = {*find_disagreements(decisions)}
        if not disputed_items:
            raise study.DataError(f"{log}: there is nothing to adjudicate: reviewers agree, or one alone has decided")
        items = tuple(item for item in materials.items if item.id in disputed_items)
        materials = stimuli.Materials(materials.paradigms, items)
    shown_pairs = build_queue(materials, reviewer_name, known_bad_share=0 if adjudicate else known_bad_share, blind=blind)
    if left_out := len(materials.items) - sum(not one.known_bad for one in shown_pairs):
        options.print_notice(
            f"{options.format_count(left_out, 'item')} of other designs than minimal pairs left out: they are reviewed as a table"
        )
    if not shown_pairs:
        raise study.DataError(f"{draft}: no minimal pair to review; expected conditions grammatical and ungrammatical")
    text = study.files.read_text(guidelines) if guidelines else ""
    _serve_review(draft, reviewer_name, shown_pairs, log, text, blind, bool(adjudicate), port, browser)


def _serve_review(
    draft: Path,
    reviewer_name: str,
    shown_pairs: Any,
    log: Path,
    guidelines: str,
    blind: bool,
    settles: bool,
    port: int,
    browser: bool,
) -> None:
    from gardenpath import study

    for module in ("starlette", "uvicorn", "markdown_it"):
        study.errors.require(module, "online")
    from gardenpath.experiment.server import routes

    from .review_page import Review, build_application

    review = Review(
        title=draft.parent.name if draft.stem == "draft" else draft.stem,
        reviewer=reviewer_name,
        shown_pairs=shown_pairs,
        log=log,
        guidelines=guidelines,
        guidelines_hash=hashlib.sha256(guidelines.encode()).hexdigest()[:16] if guidelines else "",
        blind=blind,
        is_settling=settles,
        key=secrets.token_urlsafe(12),
    )
    listener = routes.bind_socket("127.0.0.1", port)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/?key={review.key}"
    amount = options.format_count(2 * len(shown_pairs), "sentence") if blind else options.format_count(len(shown_pairs), "pair")
    click.echo(f"{amount} for {reviewer_name}: {address}")
    options.print_notice(f"decisions are kept in {log} as they are made; stop with Ctrl+C, and go on later with the same command")
    if browser:
        webbrowser.open(address)
    routes.run_server(build_application(review), listener)


def _write_agreement(decisions: "list[Decision]", draft: Path, log: Path, force: bool) -> None:
    from gardenpath import study
    from gardenpath.analysis.reporting.wording.origins import kappa
    from gardenpath.analysis.row_dicts import list_rows
    from gardenpath.stimuli.drafting.agreement_tables import (
        compute_review_agreement,
        count_detected_known_bad,
        find_blind_surprises,
    )

    if not decisions:
        raise study.DataError(f"{log}: no decision yet; expected a review, with  gardenpath review DRAFT --reviewer NAME")
    table = compute_review_agreement(decisions)
    for reviewer, (noticed_count, shown_count) in count_detected_known_bad(decisions).items():
        click.echo(f"{reviewer}: noticed {noticed_count} of {shown_count} known-bad pairs")
    for reviewer, (judged_count, unexpected) in find_blind_surprises(decisions).items():
        examples = (
            f": {', '.join(unexpected[:MAX_SENTENCES_NAMED])}{' ...' * (len(unexpected) > MAX_SENTENCES_NAMED)}"
            if unexpected
            else ""
        )
        click.echo(
            f"{reviewer}, blind: {len(unexpected)} of {options.format_count(judged_count, 'sentence')} judged "
            f"otherwise than meant{examples}"
        )
    if table.empty:
        options.print_notice("one reviewer alone: nothing to agree on")
        return
    path = draft.with_name("review_agreement.csv")
    study.files.refuse_overwrite([path], force)
    study.write(table, "review_agreement", draft.parent, command=options.format_command_line(), inputs=[log])
    for row in list_rows(table):
        click.echo(
            f"{row['reviewer_a']} and {row['reviewer_b']}, {row['measure']}: {row['n_decided']} pairs, "
            f"agreement {row['agreement']:.2f}; {kappa(row)}"
        )
    options.print_notice(f"{path}; over first decisions, before edits")


def _write_kept_pairs(materials: "Materials", decisions: "list[Decision]", draft: Path, log: Path, out: Path, force: bool) -> None:
    from gardenpath import stimuli, study
    from gardenpath.stimuli.drafting.agreement_tables import build_drafting_table, build_reviews_table
    from gardenpath.stimuli.drafting.reviews import apply_decisions

    result = apply_decisions(materials, decisions)
    if not result.materials.items:
        raise study.DataError(
            f"{log}: no pair is kept so far; {len(result.undecided_items)} of {len(materials.items)} are not decided"
        )
    folder = draft.parent
    sidecar: dict[str, Any] = {"command": options.format_command_line(), "inputs": [draft, log]}
    study.files.refuse_overwrite([out], force)
    lost = stimuli.write(result.materials, out)
    study.files.write_sidecar(out, **sidecar)
    study.write(build_reviews_table(decisions), "reviews", folder, **sidecar)
    earlier_drafting = study.read(folder, "drafting") if (folder / "drafting.csv").exists() else None
    study.write(build_drafting_table(materials, result, earlier_drafting), "drafting", folder, **sidecar)
    dropped = ", ".join(f"{n} {reason}" for reason, n in Counter(result.drop_reasons.values()).most_common())
    options.print_notice(
        f"{out}: {options.format_count(len(result.materials.items), 'pair')}, {len(result.corrected_items)} of them corrected"
    )
    options.print_notice(f"dropped: {dropped or 'none'}; not decided: {len(result.undecided_items)}")
    if result.disputed_items:
        options.print_notice(
            "left out, not agreed on: "
            f"{', '.join(result.disputed_items[:5])}{' ...' * (len(result.disputed_items) > 5)}; --adjudicate NAME"
        )
    if result.items_without_region:
        options.print_notice(
            f"without a region that others have: {', '.join(result.items_without_region[:5])}"
            f"{' ...' * (len(result.items_without_region) > 5)}; mark it in {out}"
        )
    for line in lost:
        options.print_notice(f"{out} cannot hold {line}")
