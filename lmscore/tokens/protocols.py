"""How a text becomes tokens, and which of them are scored: ours, and those of the tools whose numbers are compared."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from gardenpath.stimuli.text_checks import UNSPACED_LANGUAGES, get_base_language


@dataclass(frozen=True)
class Protocol:
    """A named way to score; `meaning` is what sidecars say of it.

    `prefix`: the prefix token is fed before every text; without it a text gets what its tokenizer adds, and where that
    is nothing its first token is fed and not scored. `leading_space`: a space is put before every text. `closing`: the
    end of the text is scored as one more token of the sentence. `masked`: tokens are hidden in turn and predicted from
    all others, by a masked model; with `word_l2r` the later tokens of the same word are hidden too. `joiner` stands between an
    item's context and its sentence: by default a space, and nothing in a language that is written without.
    """

    name: str
    meaning: str
    prefix: bool = True
    leading_space: bool = False
    closing: bool = False
    masked: bool = False
    word_l2r: bool = False
    joiner: str | None = None

    def get_joiner(self, language: str | None) -> str:
        """Return what stands between a context and a sentence of a language, a BCP 47 tag.

        >>> DEFAULT_PROTOCOL.get_joiner("de"), DEFAULT_PROTOCOL.get_joiner("zh-Hant")
        (' ', '')
        """
        if self.joiner is not None:
            return self.joiner
        return "" if language and get_base_language(language) in UNSPACED_LANGUAGES else " "

    def list_options(self) -> dict[str, bool]:
        """Return the options of `encode` in which this protocol departs from the default.

        >>> PROTOCOLS["lm-eval"].list_options()
        {'leading_space': True}
        """
        options, plain = asdict(self), asdict(DEFAULT_PROTOCOL)
        names = ("prefix", "leading_space", "closing", "word_l2r")
        return {name: options[name] for name in names if options[name] != plain[name]}


DEFAULT_PROTOCOL = Protocol(
    "default",
    "the prefix token is fed before every text, so that the first word has a probability too; no leading space, since a "
    "sentence has none; an item's context is fed and not scored; the end of the text is not scored, "
    "since a sentence need not end a text",
)

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        DEFAULT_PROTOCOL,
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
        Protocol(
            "pll",
            "pseudo-log-likelihood of a masked model (Salazar et al. 2020, doi 10.18653/v1/2020.acl-main.240): each token "
            "is hidden by itself and predicted from all others; an item's context is never hidden",
            masked=True,
        ),
        Protocol(
            "pll-word-l2r",
            "pseudo-log-likelihood within words from left to right (Kauf & Ivanova 2023, doi 10.18653/v1/2023.acl-short.80):"
            " each token is hidden together with the later tokens of its word; words are those of the tokenizer, so that "
            "\"weren't\" is three for BERT and two for RoBERTa; an item's context is never hidden",
            masked=True,
            word_l2r=True,
        ),
    )
}


def get_protocol(protocol: str | Protocol) -> Protocol:
    """Return the protocol of that name, or raise `ValueError` with the names there are."""
    if isinstance(protocol, Protocol):
        return protocol
    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol {protocol!r} is not known; expected one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[protocol]


def select_protocol(names: Sequence[str], model: str, masked: bool) -> Protocol:
    """Return the first protocol of those named that fits a model, or the one it gets unasked; raises what `resolve_protocol` does.

    >>> select_protocol(["lm-eval", "pll"], "bert", True).name
    'pll'
    """
    fit = [name for name in names if get_protocol(name).masked == masked]
    return resolve_protocol(next(iter([*fit, *names]), None), model, masked)


def resolve_protocol(protocol: str | Protocol | None, model: str, masked: bool) -> Protocol:
    """Return the protocol asked for, or the one a model gets unasked: `default`, and `pll-word-l2r` if it is masked.

    Raises `ValueError` where a protocol for masked models meets another model, or another protocol a masked one.

    >>> resolve_protocol(None, "gpt2", False).name, resolve_protocol(None, "bert", True).name
    ('default', 'pll-word-l2r')
    """
    result = get_protocol(protocol or ("pll-word-l2r" if masked else DEFAULT_PROTOCOL))
    if result.masked != masked:
        fitting = [p.name for p in PROTOCOLS.values() if p.masked == masked]
        raise ValueError(
            f"model {model}: {'a' if masked else 'not a'} masked model, which the protocol {result.name} does not score; "
            f"expected {' or '.join(fitting)} (--protocol)"
        )
    return result
