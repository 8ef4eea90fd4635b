"""Who comes from where, and where they are sent back to: Prolific, SONA, links of one's own, and a kiosk in the lab."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from gardenpath import study

from ..texts.standard_texts import LAB_SECTION as LAB_TEXTS
from ..texts.standard_texts import load_texts

PROLIFIC_RETURN_URL = "https://app.prolific.com/submissions/complete?cc={code}"
MAX_ID_LENGTH = 200  # characters of an id
# An id under a platform's own name says which platform sent it; the first that is there counts.
PLATFORMS_BY_PARAMETER = {"PROLIFIC_PID": "prolific", "survey_code": "sona", "participant": "link"}
LAB_PLATFORM = "lab"  # nobody who sits in the lab is sent anywhere
PLACEHOLDER_CODE = "CHANGE-ME"  # the completion code that `gardenpath new` writes
KIOSK_PREFIX = "kiosk_"  # begins the names of a kiosk's texts
# Endings for which a platform wants the submission back unless the study has a code for them.
RETURN_ENDINGS = ("refused", "unsuitable", "screened_out", "withdrawn", "full", "closed", "expired", "departed", "excluded")


@dataclass(frozen=True)
class PlatformParticipant:
    """A platform's id of a person, the platform, and its id of this submission where it has one."""

    id: str
    platform: str
    submission: str | None = None


def identify_participant(parameters: Mapping[str, Any]) -> PlatformParticipant | None:
    """Return who comes by the parameters of the address, or None for who comes without an id.

    >>> identify_participant({"PROLIFIC_PID": "5f", "SESSION_ID": "66"})
    PlatformParticipant(id='5f', platform='prolific', submission='66')
    """
    ids = {name: _read_identifier(parameters, name) for name in (*PLATFORMS_BY_PARAMETER, "STUDY_ID", "SESSION_ID")}
    for name, platform in PLATFORMS_BY_PARAMETER.items():
        if (id := ids[name]) is not None:
            return PlatformParticipant(id, platform, ids["SESSION_ID"] if platform == "prolific" else None)
    return None


def identify_lab_participant(parameters: Mapping[str, Any]) -> PlatformParticipant:
    """Return who sits at a kiosk; raises `ValueError` without a code.

    >>> identify_lab_participant({"participant": "P01"})
    PlatformParticipant(id='P01', platform='lab', submission=None)
    """
    if (id := _read_identifier(parameters, "participant")) is None:
        raise ValueError("participant: a session in the lab needs the participant's code")
    return PlatformParticipant(id, LAB_PLATFORM)


def compute_signature(id: str, key: bytes) -> str:
    """Return what a link with this id must hold where links are signed: nobody comes as somebody else by guessing an id."""
    return hmac.new(key, f"link {id}".encode("utf-8", "replace"), "sha256").hexdigest()[:32]


def is_signed(parameters: Mapping[str, Any], participant: PlatformParticipant | None, key: bytes) -> bool:
    """Return whether who comes has a signed link of this study."""
    given = _read_identifier(parameters, "signature")
    return (
        participant is not None
        and given is not None
        and hmac.compare_digest(given.encode(), compute_signature(participant.id, key).encode())
    )


def _read_identifier(parameters: Mapping[str, Any], name: str) -> str | None:
    value = parameters.get(name)
    if value is None or (isinstance(value, str) and 0 < len(value) <= MAX_ID_LENGTH and value.isprintable()):
        return value
    raise ValueError(f"{name}: expected 1 to {MAX_ID_LENGTH} printable characters, or null")


@dataclass(frozen=True)
class EndingPage:
    """The last page of somebody: paragraphs of plain text, and a code and a way back where there are any."""

    text: tuple[str, ...]
    code: str | None = None
    url: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what the page is sent."""
        return {"text": list(self.text), "code": self.code, "url": self.url}


def build_ending_page(online: study.config.OnlineSection, kind: str, platform: str = "link", id: str = "") -> EndingPage:
    """Return how a visit ends that does not go on.

    `kind` is a key of texts/endings.toml, and `online` as `complete_online_section` returns it, with all of these.
    """
    texts = online.texts
    codes = {
        "finished": online.completion_code,
        "screened_out": online.screened_out_code,
        "withdrawn": online.withdrawn_code,
        "unsent": online.review_code,
    }
    code = codes.get(kind)
    needs_return = code is None and kind in RETURN_ENDINGS and platform != LAB_PLATFORM
    text = (texts[kind], texts["return"]) if needs_return else (texts[kind],)
    return EndingPage(text, code, build_return_url(online, platform, id, code))


def build_return_url(online: study.config.OnlineSection, platform: str, id: str, code: str | None) -> str | None:
    """Return the address that takes somebody with this code back to the platform, or None where there is none."""
    if code is None or platform == LAB_PLATFORM:
        return None
    if platform == "prolific":
        return PROLIFIC_RETURN_URL.format(code=quote(code, safe=""))
    # SONA grants credit to whoever opens its address: only who finishes is sent there.
    if online.completion_url is None or code != online.completion_code:
        return None
    return online.completion_url.replace("{id}", quote(id, safe="")).replace("{code}", quote(code, safe=""))


def describe_placeholder_code(config: study.Study) -> str:
    """Return what to say of a completion code that is still the one `gardenpath new` writes, or an empty text.

    >>> from importlib.resources import files
    >>> describe_placeholder_code(study.load(files("gardenpath.examples") / "minimal-pairs"))
    ''
    """
    if config.required_online.completion_code != PLACEHOLDER_CODE:
        return ""
    return f"{config.path}: online.completion_code is still {PLACEHOLDER_CODE}; state your own before participants come"


def select_kiosk_texts(online: study.config.OnlineSection) -> dict[str, str]:
    """Return what a kiosk says of its own, without the prefix of its names; `online` as `complete_online_section` returns it."""
    return {name.removeprefix(KIOSK_PREFIX): text for name, text in online.texts.items() if name.startswith(KIOSK_PREFIX)}


def complete_online_section(config: study.Study) -> study.config.OnlineSection:
    """Return the section `online` with a text for every ending: its own, those of the study's file of texts, or standard ones.

    Raises `DataError` for texts that no page asks for, and where some are in no file.
    """
    try:
        known = load_texts(config)["endings"]
    except ValueError as error:
        raise study.DataError(f"{config.path}: {error}") from None
    del known[LAB_TEXTS]
    if unknown := sorted(config.required_online.texts.keys() - known.keys()):
        raise study.DataError(f"online.texts: {', '.join(unknown)} is not known; expected some of {', '.join(known)}")
    return replace(config.required_online, texts={**known, **config.required_online.texts})
