"""What every kind of model gives: texts become tokens, tokens become token tables."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypedDict, Unpack

from ..tokens.encoding import EncodedText
from ..tokens.token_table import TokenTable
from .predictors import is_canonical

COLUMNS = ("logprob", "end", "log_boundary", "entropy", "renyi")

Progress = Callable[[int, int], None]  # how much of how much is done
FinishedCallback = Callable[[Sequence[TokenTable]], None]
KnownPredicate = Callable[[EncodedText], bool]


class ForwardOptions(TypedDict, total=False):
    """How token tables are computed, the same for every kind of model.

    `batch_tokens` is how many positions a batch has at most. `on_finished` is called with the tables of distinct token sequences
    as they are finished, `progress` with how many are and how many there are. Which texts share a batch follows from the texts
    alone; a batch of which each text `is_known` is not computed, and what is returned of these is of no use.
    """

    batch_tokens: int | None
    progress: Progress | None
    on_finished: FinishedCallback | None
    is_known: KnownPredicate | None


def report_finished(options: ForwardOptions, tables: Sequence[TokenTable], finished: int, total: int) -> None:
    """Tell the callers of `forward` of tables that are finished, and of how many of all are by now."""
    if tables and (on_finished := options.get("on_finished")):
        on_finished(tables)
    if tables and (progress := options.get("progress")):
        progress(finished, total)


class Model(Protocol):
    """A language model ready to score, as `load` and `estimate_ngram` return it; `name` is what tables call it.

    >>> from gardenpath.lmscore.toy.examples import estimate_example_model
    >>> model = estimate_example_model()
    >>> (table,) = model.forward([model.encode("A dog barks.")])
    >>> table.logprob.round(2).tolist()  # nats: four tokens, then the end
    [-1.26, -1.26, -0.63, -0.51, -0.43]
    """

    @property
    def name(self) -> str:
        """The name as given, or one that says it is a toy."""

    @property
    def masked(self) -> bool:
        """Whether tokens are hidden and predicted from both sides, not from what precedes them alone."""

    @property
    def encode(self) -> Callable[..., EncodedText]:
        """The method that returns a text as tokens to score after its context: `encode(text, context=None, **options)`.

        The options are those of the `Protocol`s that fit the model. It raises `ValueError` where a text cannot be encoded.
        """

    def describe(self) -> dict[str, object]:
        """Return what a sidecar records of the model, to tell it from any other."""

    def forward(
        self, texts: Sequence[EncodedText], *, columns: Sequence[str] = COLUMNS, **options: Unpack[ForwardOptions]
    ) -> list[TokenTable]:
        """Return the token table of each text, in the order given; equal token sequences are computed once.

        `columns` are those to compute: what is not asked for is NaN. `end` is the last row's log-probability; any
        other column but `logprob` has a last row too. The options are `ForwardOptions`.
        """


def check_columns(columns: Sequence[str], *, allow_predictors: bool = False) -> frozenset[str]:
    """Return the columns as a set, or raise `ValueError` naming those that are not known; `allow_predictors` are names of
    predictors."""
    unknown = [name for name in columns if name not in COLUMNS]
    if allow_predictors:
        unknown = [name for name in unknown if not is_canonical(name)]
    if unknown or not columns:
        raise ValueError(f"column {', '.join(map(repr, unknown)) or 'missing'}; expected one or more of {', '.join(COLUMNS)}")
    return frozenset(columns)
