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

LOG = "reviews.jsonl"
NAMED = 5  # sentences that are spelt out


@click.command("review")
@click.argument("draft", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--reviewer", metavar="NAME", help="Who decides; each has an order of their own.")
@click.option("--settle", metavar="NAME", help="Who settles the pairs on which reviewers do not agree.")
@click.option("--blind", is_flag=True, help="Single sentences, nothing said of them: acceptable or not.")
@click.option(
    "--guidelines",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="Text (Markdown) that stands beside each pair; its hash goes into each decision.",
)
@click.option(
    "--log", "log", type=click.Path(path_type=Path), help="File of all decisions.  [default: reviews.jsonl beside]"
)
@click.option(
    "--planted",
    type=click.FloatRange(0, 0.5),
    default=0.07,
    show_default=True,
    help="Share of known-bad pairs among the others.",
)
@click.option("--port", type=int, default=0, help="Port of the page.  [default: a free one]")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page.")
@click.option("--agreement", "agree", is_flag=True, help="How far reviewers agree, instead of the page.")
@click.option(
    "--write", "out", type=click.Path(path_type=Path), metavar="FILE", help="Write the kept pairs, instead of the page."
)
@options.force
def command(
    draft: Path,
    reviewer: str | None,
    settle: str | None,
    blind: bool,
    guidelines: Path | None,
    log: Path | None,
    planted: float,
    port: int,
    browser: bool,
    agree: bool,
    out: Path | None,
    force: bool,
) -> None:
    """Review the pairs of DRAFT on a page of this machine, by keys: tick, accept, correct, or drop with a reason.

    Each decision is added to the log at once and nothing is overwritten, so that a review can be left and gone on with, and several
    people can review the same draft. --agreement writes the table review_agreement and says who noticed the known-bad pairs;
    --settle shows a third person what the others do not agree on; --write makes the kept pairs into materials.
    """
    from gardenpath import stimuli, study
    from gardenpath.stimuli.drafting.reviews import disagreements, queue, read_log

    modes = [
        name
        for name, given in (("--reviewer", reviewer), ("--settle", settle), ("--agreement", agree), ("--write", out))
        if given
    ]
    if len(modes) != 1:
        raise click.UsageError(
            f"{' and '.join(modes) or 'nothing'} is given; expected one of --reviewer, --settle, --agreement, --write"
        )
    materials = stimuli.read(draft)
    log = log or draft.with_name(LOG)
    decisions, broken = read_log(log)
    for line in broken:
        options.talk(line)
    if agree:
        _agreement(decisions, draft, log, force)
        return
    if out:
        _write(materials, decisions, draft, log, out, force)
        return
    who = str(reviewer or settle)
    if settle:
        wanted = {*disagreements(decisions)}
        if not wanted:
            raise study.DataError(f"{log}: there is nothing to settle: reviewers agree, or one alone has decided")
        items = tuple(item for item in materials.items if item.id in wanted)
        materials = stimuli.Materials(materials.paradigms, items)
    shown = queue(materials, who, planted=0 if settle else planted, blind=blind)
    if left := len(materials.items) - sum(not one.planted for one in shown):
        options.talk(
            f"{options.count(left, 'item')} of other designs than minimal pairs left out: they are reviewed as a table"
        )
    if not shown:
        raise study.DataError(f"{draft}: no minimal pair to review; expected conditions grammatical and ungrammatical")
    text = study.files.read_text(guidelines) if guidelines else ""
    _serve(draft, who, shown, log, text, blind, bool(settle), port, browser)


def _serve(
    draft: Path, who: str, shown: Any, log: Path, guidelines: str, blind: bool, settles: bool, port: int, browser: bool
) -> None:
    from gardenpath import study

    for module in ("starlette", "uvicorn", "markdown_it"):
        study.errors.require(module, "online")
    from gardenpath.experiment.server import routes

    from .reviewing import Review, application

    review = Review(
        title=draft.parent.name if draft.stem == "draft" else draft.stem,
        reviewer=who,
        shown=shown,
        log=log,
        guidelines=guidelines,
        guidelines_hash=hashlib.sha256(guidelines.encode()).hexdigest()[:16] if guidelines else "",
        blind=blind,
        settles=settles,
        key=secrets.token_urlsafe(12),
    )
    listener = routes.listen("127.0.0.1", port)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/?key={review.key}"
    what = options.count(2 * len(shown), "sentence") if blind else options.count(len(shown), "pair")
    click.echo(f"{what} for {who}: {address}")
    options.talk(
        f"decisions are kept in {log} as they are made; stop with Ctrl+C, and go on later with the same command"
    )
    if browser:
        webbrowser.open(address)
    routes.run(application(review), listener)


def _agreement(decisions: "list[Decision]", draft: Path, log: Path, force: bool) -> None:
    from gardenpath import study
    from gardenpath.analysis.reporting.wording.origins import kappa
    from gardenpath.analysis.row_dicts import records
    from gardenpath.stimuli.drafting.agreement_tables import blind_surprises, planted_found, review_agreement

    if not decisions:
        raise study.DataError(
            f"{log}: no decision yet; expected a review, with  gardenpath review DRAFT --reviewer NAME"
        )
    table = review_agreement(decisions)
    for who, (noticed, shown) in planted_found(decisions).items():
        click.echo(f"{who}: noticed {noticed} of {shown} known-bad pairs")
    for who, (seen, odd) in blind_surprises(decisions).items():
        named = f": {', '.join(odd[:NAMED])}{' ...' * (len(odd) > NAMED)}" if odd else ""
        click.echo(f"{who}, blind: {len(odd)} of {options.count(seen, 'sentence')} judged otherwise than meant{named}")
    if table.empty:
        options.talk("one reviewer alone: nothing to agree on")
        return
    path = draft.with_name("review_agreement.csv")
    study.files.refuse_overwrite([path], force)
    study.write(table, "review_agreement", draft.parent, command=options.typed(), inputs=[log])
    for row in records(table):
        click.echo(
            f"{row['reviewer_a']} and {row['reviewer_b']}, {row['measure']}: {row['n']} pairs, "
            f"agreement {row['agreement']:.2f}; {kappa(row)}"
        )
    options.talk(f"{path}; over first decisions, before edits")


def _write(materials: "Materials", decisions: "list[Decision]", draft: Path, log: Path, out: Path, force: bool) -> None:
    from gardenpath import stimuli, study
    from gardenpath.stimuli.drafting.agreement_tables import drafting_table, reviews_table
    from gardenpath.stimuli.drafting.reviews import reviewed

    result = reviewed(materials, decisions)
    if not result.materials.items:
        raise study.DataError(
            f"{log}: no pair is kept so far; {len(result.undecided)} of {len(materials.items)} are not decided"
        )
    folder = draft.parent
    made: dict[str, Any] = {"command": options.typed(), "inputs": [draft, log]}
    study.files.refuse_overwrite([out], force)
    lost = stimuli.write(result.materials, out)
    study.files.write_sidecar(out, **made)
    study.write(reviews_table(decisions), "reviews", folder, **made)
    earlier = study.read(folder, "drafting") if (folder / "drafting.csv").exists() else None
    study.write(drafting_table(materials, result, earlier), "drafting", folder, **made)
    dropped = ", ".join(f"{n} {why}" for why, n in Counter(result.dropped.values()).most_common())
    options.talk(
        f"{out}: {options.count(len(result.materials.items), 'pair')}, {len(result.corrected)} of them corrected"
    )
    options.talk(f"dropped: {dropped or 'none'}; not decided: {len(result.undecided)}")
    if result.disagreed:
        options.talk(
            f"left out, not agreed on: {', '.join(result.disagreed[:5])}{' ...' * (len(result.disagreed) > 5)}; --settle NAME"
        )
    if result.without_region:
        options.talk(
            f"without a region that others have: {', '.join(result.without_region[:5])}"
            f"{' ...' * (len(result.without_region) > 5)}; mark it in {out}"
        )
    for line in lost:
        options.talk(f"{out} cannot hold {line}")
