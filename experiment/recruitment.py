"""Who comes from where, and where they are sent back to: Prolific, SONA, links of one's own, and a kiosk in the lab."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from gardenpath import study

from .standard_texts import LAB as LAB_TEXTS
from .standard_texts import texts_of

PROLIFIC_RETURN = "https://app.prolific.com/submissions/complete?cc={code}"
LONGEST = 200  # characters of an id
# An id under a platform's own name says which platform sent it; the first that is there counts.
PLATFORMS = {"PROLIFIC_PID": "prolific", "survey_code": "sona", "participant": "link"}
LAB = "lab"  # nobody who sits in the lab is sent anywhere
UNSTATED = "CHANGE-ME"  # the completion code that `gardenpath new` writes
KIOSK = "kiosk_"  # begins the names of a kiosk's texts
# Endings for which a platform wants the submission back unless the study has a code for them.
RETURNED = ("refused", "unsuitable", "screened_out", "withdrawn", "full", "closed", "expired", "departed", "barred")


@dataclass(frozen=True)
class Person:
    """A platform's id of a person, the platform, and its id of this submission where it has one."""

    id: str
    platform: str
    submission: str | None = None


def person(parameters: Mapping[str, Any]) -> Person | None:
    """Return who comes by the parameters of the address, or None for who comes without an id.

    >>> person({"PROLIFIC_PID": "5f", "SESSION_ID": "66"})
    Person(id='5f', platform='prolific', submission='66')
    """
    ids = {name: _identifier(parameters, name) for name in (*PLATFORMS, "STUDY_ID", "SESSION_ID")}
    for name, platform in PLATFORMS.items():
        if (id := ids[name]) is not None:
            return Person(id, platform, ids["SESSION_ID"] if platform == "prolific" else None)
    return None


def person_in_lab(parameters: Mapping[str, Any]) -> Person:
    """Return who sits at a kiosk; raises `ValueError` without a code.

    >>> person_in_lab({"participant": "P01"})
    Person(id='P01', platform='lab', submission=None)
    """
    if (id := _identifier(parameters, "participant")) is None:
        raise ValueError("participant: a session in the lab needs the participant's code")
    return Person(id, LAB)


def signature(id: str, key: bytes) -> str:
    """Return what a link with this id must hold where links are signed: nobody comes as somebody else by guessing an id."""
    return hmac.new(key, f"link {id}".encode("utf-8", "replace"), "sha256").hexdigest()[:32]


def is_signed(parameters: Mapping[str, Any], who: Person | None, key: bytes) -> bool:
    """Return whether who comes has a signed link of this study."""
    given = _identifier(parameters, "signature")
    return (
        who is not None and given is not None and hmac.compare_digest(given.encode(), signature(who.id, key).encode())
    )


def _identifier(parameters: Mapping[str, Any], name: str) -> str | None:
    value = parameters.get(name)
    if value is None or (isinstance(value, str) and 0 < len(value) <= LONGEST and value.isprintable()):
        return value
    raise ValueError(f"{name}: expected 1 to {LONGEST} printable characters, or null")


@dataclass(frozen=True)
class Ending:
    """The last page of somebody: paragraphs of plain text, and a code and a way back where there are any."""

    text: tuple[str, ...]
    code: str | None = None
    url: str | None = None

    def json(self) -> dict[str, Any]:
        """Return what the page is sent."""
        return {"text": list(self.text), "code": self.code, "url": self.url}


def ending(online: study.config.OnlineSection, kind: str, platform: str = "link", id: str = "") -> Ending:
    """Return how a visit ends that does not go on.

    `kind` is a key of texts/endings.toml, and `online` as `online_section` returns it, with all of these.
    """
    texts = online.texts
    codes = {
        "finished": online.completion_code,
        "screened_out": online.screened_out_code,
        "withdrawn": online.withdrawn_code,
        "unsent": online.review_code,
    }
    code = codes.get(kind)
    asks = code is None and kind in RETURNED and platform != LAB
    text = (texts[kind], texts["return"]) if asks else (texts[kind],)
    return Ending(text, code, way_back(online, platform, id, code))


def way_back(online: study.config.OnlineSection, platform: str, id: str, code: str | None) -> str | None:
    """Return the address that takes somebody with this code back to the platform, or None where there is none."""
    if code is None or platform == LAB:
        return None
    if platform == "prolific":
        return PROLIFIC_RETURN.format(code=quote(code, safe=""))
    # SONA grants credit to whoever opens its address: only who finishes is sent there.
    if online.completion_url is None or code != online.completion_code:
        return None
    return online.completion_url.replace("{id}", quote(id, safe="")).replace("{code}", quote(code, safe=""))


def unstated_code(plan: study.Study) -> str:
    """Return what to say of a completion code that is still the one `gardenpath new` writes, or an empty text.

    >>> from importlib.resources import files
    >>> unstated_code(study.load(files("gardenpath.examples") / "minimal-pairs"))
    ''
    """
    if plan.served.completion_code != UNSTATED:
        return ""
    return f"{plan.path}: online.completion_code is still {UNSTATED}; state your own before participants come"


def kiosk_texts(online: study.config.OnlineSection) -> dict[str, str]:
    """Return what a kiosk says of its own, without the prefix of its names; `online` as `online_section` returns it."""
    return {name.removeprefix(KIOSK): text for name, text in online.texts.items() if name.startswith(KIOSK)}


def online_section(plan: study.Study) -> study.config.OnlineSection:
    """Return the section `online` with a text for every ending: its own, those of the study's file of texts, or standard ones.

    Raises `DataError` for texts that no page asks for, and where some are in no file.
    """
    try:
        known = texts_of(plan)["endings"]
    except ValueError as error:
        raise study.DataError(f"{plan.path}: {error}") from None
    del known[LAB_TEXTS]
    if unknown := sorted(plan.served.texts.keys() - known.keys()):
        raise study.DataError(f"online.texts: {', '.join(unknown)} is not known; expected some of {', '.join(known)}")
    return replace(plan.served, texts={**known, **plan.served.texts})
