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
from gardenpath.stimuli.drafting.draft_findings import pieces
from gardenpath.stimuli.drafting.reviews import ACTIONS, TICKS, Decision, Shown, append, read_log, standing

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

WHAT = {"grammatical": ("to be grammatical", "good"), "ungrammatical": ("to be ungrammatical", "bad")}
FILES = {"": "review.html", "review.css": "review.css", "review.js": "review.js"}
LARGEST = 100_000  # bytes of a decision


class Refused(Exception):
    """What the page asked for cannot be done; its text is shown."""


@dataclass
class Review:
    """One person's review of a draft: the pairs in their order, and the log in which each decision is kept."""

    title: str
    reviewer: str
    shown: Sequence[Shown]
    log: Path
    guidelines: str = ""
    guidelines_hash: str = ""
    blind: bool = False
    settles: bool = False
    key: str = ""
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def state(self) -> dict[str, Any]:
        """Return what the page shows: every pair with what is decided of it."""
        decisions, _ = read_log(self.log)
        held = standing(decisions)
        counts: dict[tuple[str, str], int] = {}
        for one in decisions:
            if one.reviewer == self.reviewer:
                counts[one.item, one.condition] = counts.get((one.item, one.condition), 0) + 1
        entries = [entry for one in self.shown for entry in self._entries(one, decisions, held, counts)]
        return {
            "title": self.title,
            "reviewer": self.reviewer,
            "blind": self.blind,
            "ticks": list(TICKS.items()),
            "guidelines": rendered(self.guidelines),
            "pairs": [{**entry, "number": number} for number, entry in enumerate(entries, start=1)],
        }

    def _entries(
        self,
        shown: Shown,
        decisions: Sequence[Decision],
        held: Mapping[tuple[str, str, str], Decision],
        counts: Mapping[tuple[str, str], int],
    ) -> list[dict[str, Any]]:
        item = shown.item
        texts = {condition: sentence.text for condition, sentence in item.sentences.items()}
        both = list(texts.values())
        parts = dict(zip(texts, pieces(both[0], both[1]), strict=True))
        entries = []
        for condition in [*texts] if self.blind else [""]:
            decision = held.get((self.reviewer, item.id, condition))
            members = [
                {
                    "condition": name,
                    "text": text,
                    "what": "is this acceptable?" if self.blind else f"meant {WHAT[name][0]}",
                    "kind": "" if self.blind else WHAT[name][1],
                    "parts": [[text, False]] if self.blind else parts[name],
                }
                for name, text in texts.items()
                if condition in ("", name)
            ]
            others = [told(one) for one in held.values() if one.item == item.id and one.reviewer != self.reviewer]
            entries.append(
                {
                    "id": item.id,
                    "condition": condition,
                    "paradigm": item.paradigm,
                    "language": item.language,
                    "members": members,
                    "findings": "" if self.blind else item.extra.get("draft_findings", ""),
                    "others": others if self.settles else [],
                    "decision": told(decision, who=False) if decision else "",
                    "ticks": dict(decision.ticks) if decision else {},
                    "seen": counts.get((item.id, condition), 0),
                }
            )
        return entries

    def decide(self, asked: object) -> None:
        """Keep a decision, or raise `Refused`: it is not whole, or another page has decided in the meantime."""
        if not isinstance(asked, dict) or asked.get("action") not in ACTIONS:
            raise Refused("that is no decision")
        item, condition, action = str(asked.get("item")), str(asked.get("condition", "")), str(asked["action"])
        entry = next((one for one in self.state()["pairs"] if (one["id"], one["condition"]) == (item, condition)), None)
        if entry is None:
            raise Refused("this pair is not in the draft any more; load the page again")
        if asked.get("seen") != entry["seen"]:
            raise Refused("decided in another window meanwhile; load the page again to see it")
        if action == "undo" and not entry["decision"]:
            raise Refused("there is nothing to take back here")
        stated = asked.get("ticks")
        ticks = {name: bool(stated.get(name)) for name in TICKS} if isinstance(stated, dict) else {}
        if action == "accept" and not all(ticks.values()):
            raise Refused("to accept a pair takes all four ticks")
        reason = str(asked.get("reason", ""))[:300]
        if action == "drop" and not reason:
            raise Refused("to drop a pair takes a reason")
        before = {member["condition"]: member["text"] for member in entry["members"]}
        after = self._after(asked.get("texts"), before) if action == "correct" else {}
        kept = action not in ("undo", "acceptable", "unacceptable")
        append(
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
                planted=next(one.planted for one in self.shown if one.item.id == item),
                settles=self.settles,
            ),
        )

    def _after(self, texts: object, before: Mapping[str, str]) -> dict[str, str]:
        """Return the texts of a correction that are other than before."""
        if not isinstance(texts, dict):
            raise Refused("a correction holds the texts of both members")
        after = {name: " ".join(str(texts.get(name, "")).split()) for name in before}
        if not all(after.values()):
            raise Refused("a member is empty; write a sentence, or drop the pair")
        if len({*after.values()}) < len(after):
            raise Refused("both members are the same")
        changed = {name: text for name, text in after.items() if text != before[name]}
        if not changed:
            raise Refused("nothing was changed; leave it with Escape, or accept the pair")
        return changed


def told(decision: Decision, *, who: bool = True) -> str:
    """Return a decision in words."""
    said = {"accept": "accepted", "correct": "corrected", "drop": "dropped"}.get(decision.action, decision.action)
    lacking = [text for name, text in TICKS.items() if decision.ticks and not decision.ticks.get(name)]
    texts = [f"{name}: {text}" for name, text in decision.after.items()]
    more = "; ".join([*([decision.reason] if decision.reason else []), *texts])
    unticked = f" (not ticked: {', '.join(lacking)})" if lacking and decision.action != "drop" else ""
    return f"{f'{decision.reviewer} ' if who else ''}{said}{f': {more}' if more else ''}{unticked}"


def rendered(markdown: str) -> str:
    """Return guidelines as HTML: HTML in them stays text, pictures are not fetched, headings stand below the page's own.

    >>> rendered("# Look <b>here</b>")
    '<h3>Look &lt;b&gt;here&lt;/b&gt;</h3>\\n'
    """
    from markdown_it import MarkdownIt

    reader = MarkdownIt("js-default").disable("image")
    tokens = reader.parse(markdown)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1:]) + 2, 6)}"
    return str(reader.renderer.render(tokens, reader.options, {}))


def application(review: Review) -> "Starlette":
    """Return the page and its two calls; whoever has not the key of the address gets neither."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    from gardenpath.experiment.server.routes import LOCAL, SecurityHeaders

    def known(request: "Request", given: str) -> None:
        host = (request.headers.get("host") or "").rpartition(":")[0].strip("[]")
        if host not in LOCAL or not hmac.compare_digest(given, review.key):
            raise Refused("this page is opened by the address that  gardenpath review  printed")

    async def page(request: "Request") -> "Response":
        name = FILES[request.path_params.get("name", "")]
        kind = {"html": "text/html", "css": "text/css", "js": "text/javascript"}[name.rpartition(".")[2]]
        return Response((files("gardenpath.cli.pages") / name).read_text("utf-8"), media_type=kind)

    async def state(request: "Request") -> "Response":
        try:
            known(request, request.headers.get("x-key", ""))
            return JSONResponse(review.state())
        except (Refused, study.DataError) as error:
            return JSONResponse({"said": str(error)}, 400)

    async def decide(request: "Request") -> "Response":
        try:
            known(request, request.headers.get("x-key", ""))
            if int(request.headers.get("content-length") or LARGEST + 1) > LARGEST:
                raise Refused("that is too much text for a decision")
            async with review._lock:
                review.decide(json.loads(await request.body()))
            return JSONResponse(review.state())
        except ValueError:
            return JSONResponse({"said": "that is no decision"}, 400)
        except (Refused, study.DataError) as error:
            return JSONResponse({"said": str(error)}, 409)
        except OSError as error:
            return JSONResponse(
                {"said": f"not kept: {error}; nothing is lost before this, see to the disk and decide again"}, 500
            )

    routes = [
        Route("/", page),
        Route("/state", state),
        Route("/decide", decide, methods=["POST"]),
        *[Route(f"/{name}", page_of(name, page)) for name in FILES if name],
    ]
    return Starlette(routes=routes, middleware=[Middleware(SecurityHeaders)])


def page_of(name: str, page: Any) -> Any:
    """Return the route of one of the page's files."""

    async def shown(request: "Request") -> "Response":
        request.path_params["name"] = name
        response: Response = await page(request)
        return response

    return shown
