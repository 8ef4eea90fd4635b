"""How a text becomes tokens, and which of them are scored: ours, and those of the tools whose numbers are compared."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Protocol:
    """A named way to score; `meaning` is what sidecars say of it.

    `prefix`: the prefix token is fed before every text; without it a text gets what its tokenizer adds, and where that
    is nothing its first token is fed and not scored. `leading_space`: a space is put before every text. `closing`: the
    end of the text is scored as one more token of the sentence.
    """

    name: str
    meaning: str
    prefix: bool = True
    leading_space: bool = False
    closing: bool = False

    def options(self) -> dict[str, bool]:
        """Return the options of `encode` in which this protocol departs from the default.

        >>> PROTOCOLS["lm-eval"].options()
        {'leading_space': True}
        """
        plain = asdict(DEFAULT)
        return {name: value for name, value in asdict(self).items() if isinstance(value, bool) and value != plain[name]}


DEFAULT = Protocol(
    "default",
    "the prefix token is fed before every text, so that the first word has a probability too; no leading space, since a "
    "sentence has none; an item's context, joined by a space, is fed and not scored; the end of the text is not scored, "
    "since a sentence need not end a text",
)

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        DEFAULT,
        Protocol(
            "blimp-2020",
            "as BLiMP's authors scored GPT-2 (Warstadt et al. 2020, doi 10.1162/tacl_a_00321): the prefix token is fed "
            "before every text, no leading space, the closing end-of-text token is scored as part of the sentence",
            closing=True,
        ),
        Protocol(
            "lm-eval",
            "as the task blimp of lm-eval: the prefix token is fed before every text, and a space stands before its "
            "first word; the end of the text is not scored",
            leading_space=True,
        ),
        Protocol(
            "minicons-default",
            "as minicons scores when not told otherwise: no token is fed but what the tokenizer adds itself; where it "
            "adds none, the first token is fed and not scored, and |s| does not count it. minicons' sequence_score is "
            "mean_lp here, with a sum as its reduction lp",
            prefix=False,
        ),
    )
}


def named(protocol: str | Protocol) -> Protocol:
    """Return the protocol of that name, or raise `ValueError` with the names there are."""
    if isinstance(protocol, Protocol):
        return protocol
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol {protocol!r} is not known; expected one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[protocol]
