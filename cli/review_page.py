"""The page of `gardenpath review`: what it is sent, and what it sends back, on this machine alone."""

import asyncio
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gardenpath import study
from gardenpath.stimuli.drafting.draft_findings import split_differences
from gardenpath.stimuli.drafting.reviews import (
    ACTIONS,
    TICK_MEANINGS,
    Decision,
    ReviewPair,
    append_decision,
    find_standing_decisions,
    read_log,
)

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MEMBER_DESCRIPTIONS = {"grammatical": ("to be grammatical", "good"), "ungrammatical": ("to be ungrammatical", "bad")}
PAGE_FILES = {"": "review.html", "review.css": "review.css", "review.js": "review.js"}
MAX_DECISION_BYTES = 100_000  # bytes of a decision


class ReviewError(Exception):
    """What the page asked for cannot be done; its text is shown."""


@dataclass
class Review:
    """One person's review of a draft: the pairs in their order, and the log in which each decision is kept."""

    title: str
    reviewer: str
    shown_pairs: Sequence[ReviewPair]
    log: Path
    guidelines: str = ""
    guidelines_hash: str = ""
    blind: bool = False
    is_settling: bool = False
    key: str = ""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def build_state(self) -> dict[str, Any]:
        """Return what the page shows: every pair with what is decided of it."""
        decisions, _ = read_log(self.log)
        current_decisions = find_standing_decisions(decisions)
        counts: dict[tuple[str, str], int] = {}
        for one in decisions:
            if one.reviewer == self.reviewer:
                counts[one.item, one.condition] = counts.get((one.item, one.condition), 0) + 1
        entries = [entry for one in self.shown_pairs for entry in self._build_entries(one, decisions, current_decisions, counts)]
        return {
            "title": self.title,
            "reviewer": self.reviewer,
            "blind": self.blind,
            "ticks": list(TICK_MEANINGS.items()),
            "guidelines": render_guidelines(self.guidelines),
            "pairs": [{**entry, "number": number} for number, entry in enumerate(entries, start=1)],
        }

    def _build_entries(
        self,
        pair: ReviewPair,
        decisions: Sequence[Decision],
        current_decisions: Mapping[tuple[str, str, str], Decision],
        counts: Mapping[tuple[str, str], int],
    ) -> list[dict[str, Any]]:
        item = pair.item
        texts = {condition: sentence.text for condition, sentence in item.sentences.items()}
        both = list(texts.values())
        parts = dict(zip(texts, split_differences(both[0], both[1]), strict=True))
        entries = []
        for condition in [*texts] if self.blind else [""]:
            decision = current_decisions.get((self.reviewer, item.id, condition))
            members = [
                {
                    "condition": name,
                    "text": text,
                    "what": "is this acceptable?" if self.blind else f"meant {MEMBER_DESCRIPTIONS[name][0]}",
                    "kind": "" if self.blind else MEMBER_DESCRIPTIONS[name][1],
                    "parts": [[text, False]] if self.blind else parts[name],
                }
                for name, text in texts.items()
                if condition in ("", name)
            ]
            others = [
                describe_decision(one)
                for one in current_decisions.values()
                if one.item == item.id and one.reviewer != self.reviewer
            ]
            entries.append(
                {
                    "id": item.id,
                    "condition": condition,
                    "paradigm": item.paradigm,
                    "language": item.language,
                    "members": members,
                    "findings": "" if self.blind else item.extra.get("draft_findings", ""),
                    "others": others if self.is_settling else [],
                    "decision": describe_decision(decision, with_reviewer=False) if decision else "",
                    "ticks": dict(decision.ticks) if decision else {},
                    "seen": counts.get((item.id, condition), 0),
                }
            )
        return entries

    def add_decision(self, request: object) -> None:
        """Keep a decision, or raise `ReviewError`: it is not whole, or another page has decided in the meantime."""
        if not isinstance(request, dict) or request.get("action") not in ACTIONS:
            raise ReviewError("that is no decision")
        item, condition, action = str(request.get("item")), str(request.get("condition", "")), str(request["action"])
        entry = next((one for one in self.build_state()["pairs"] if (one["id"], one["condition"]) == (item, condition)), None)
        if entry is None:
            raise ReviewError("this pair is not in the draft any more; load the page again")
        if request.get("seen") != entry["seen"]:
            raise ReviewError("decided in another window meanwhile; load the page again to see it")
        if action == "undo" and not entry["decision"]:
            raise ReviewError("there is nothing to take back here")
        requested_ticks = request.get("ticks")
        ticks = {name: bool(requested_ticks.get(name)) for name in TICK_MEANINGS} if isinstance(requested_ticks, dict) else {}
        if action == "accept" and not all(ticks.values()):
            raise ReviewError("to accept a pair takes all four ticks")
        reason = str(request.get("reason", ""))[:300]
        if action == "drop" and not reason:
            raise ReviewError("to drop a pair takes a reason")
        before = {member["condition"]: member["text"] for member in entry["members"]}
        after = self._read_correction(request.get("texts"), before) if action == "correct" else {}
        kept = action not in ("undo", "acceptable", "unacceptable")
        append_decision(
            self.log,
            Decision(
                time=datetime.now(UTC).isoformat(timespec="seconds"),
                reviewer=self.reviewer,
                item=item,
                action=action,
                ticks=ticks if kept else {},
                reason=reason,
                before=before,
                after=after,
                guidelines=self.guidelines_hash,
                condition=condition,
                injected_error=next(one.known_bad for one in self.shown_pairs if one.item.id == item),
                is_adjudication=self.is_settling,
            ),
        )

    def _read_correction(self, texts: object, before: Mapping[str, str]) -> dict[str, str]:
        """Return the texts of a correction that are other than before."""
        if not isinstance(texts, dict):
            raise ReviewError("a correction holds the texts of both members")
        after = {name: " ".join(str(texts.get(name, "")).split()) for name in before}
        if not all(after.values()):
            raise ReviewError("a member is empty; write a sentence, or drop the pair")
        if len({*after.values()}) < len(after):
            raise ReviewError("both members are the same")
        changed = {name: text for name, text in after.items() if text != before[name]}
        if not changed:
            raise ReviewError("nothing was changed; leave it with Escape, or accept the pair")
        return changed


def describe_decision(decision: Decision, *, with_reviewer: bool = True) -> str:
    """Return a decision in words."""
    verb = {"accept": "accepted", "correct": "corrected", "drop": "dropped"}.get(decision.action, decision.action)
    missing_ticks = [text for name, text in TICK_MEANINGS.items() if decision.ticks and not decision.ticks.get(name)]
    texts = [f"{name}: {text}" for name, text in decision.after.items()]
    details = "; ".join([*([decision.reason] if decision.reason else []), *texts])
    unticked = f" (not ticked: {', '.join(missing_ticks)})" if missing_ticks and decision.action != "drop" else ""
    return f"{f'{decision.reviewer} ' if with_reviewer else ''}{verb}{f': {details}' if details else ''}{unticked}"


def render_guidelines(markdown: str) -> str:
    """Return guidelines as HTML: HTML in them stays text, pictures are not fetched, headings stand below the page's own.

    >>> render_guidelines("# Look <b>here</b>")
    '<h3>Look &lt;b&gt;here&lt;/b&gt;</h3>\\n'
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("js-default").disable("image")
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + 2, 6)}"
    return str(parser.renderer.render(tokens, parser.options, {}))


def build_application(review: Review) -> "Starlette":
    """Return the page and its two calls; whoever has not the key of the address gets neither."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from gardenpath.experiment.server.routes import LOCAL_HOSTS, SecurityHeaders

    def check_access(request: "Request", key: str) -> None:
        host = (request.headers.get("host") or "").rpartition(":")[0].strip("[]")
        if host not in LOCAL_HOSTS or not hmac.compare_digest(key, review.key):
            raise ReviewError("this page is opened by the address that  gardenpath review  printed")

    async def page(request: "Request") -> "Response":
        name = PAGE_FILES[request.path_params.get("name", "")]
        kind = {"html": "text/html", "css": "text/css", "js": "text/javascript"}[name.rpartition(".")[2]]
        return Response((files("gardenpath.cli.pages") / name).read_text("utf-8"), media_type=kind)

    async def state(request: "Request") -> "Response":
        try:
            check_access(request, request.headers.get("x-key", ""))
            return JSONResponse(review.build_state())
        except (ReviewError, study.DataError) as error:
            return JSONResponse({"error": str(error)}, 400)

    async def decide(request: "Request") -> "Response":
        try:
            check_access(request, request.headers.get("x-key", ""))
            if int(request.headers.get("content-length") or MAX_DECISION_BYTES + 1) > MAX_DECISION_BYTES:
                raise ReviewError("that is too much text for a decision")
            async with review._lock:
                review.add_decision(json.loads(await request.body()))
            return JSONResponse(review.build_state())
        except ValueError:
            return JSONResponse({"error": "that is no decision"}, 400)
        except (ReviewError, study.DataError) as error:
            return JSONResponse({"error": str(error)}, 409)
        except OSError as error:
            return JSONResponse({"error": f"not kept: {error}; nothing is lost before this, see to the disk and decide again"}, 500)

    routes = [
        Route("/", page),
        Route("/state", state),
        Route("/decide", decide, methods=["POST"]),
        *[Route(f"/{name}", build_file_route(name, page)) for name in PAGE_FILES if name],
    ]
    return Starlette(routes=routes, middleware=[Middleware(SecurityHeaders)])


def build_file_route(name: str, page: Any) -> Any:
    """Return the route of one of the page's files."""

    async def send_page_file(request: "Request") -> "Response":
        request.path_params["name"] = name
        response: Response = await page(request)
        return response

    return send_page_file
