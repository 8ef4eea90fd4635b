"""What sweep.toml says: models, materials by language, measures and methods, and where results are kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from gardenpath import study
from gardenpath.study.config import STRICT_VALIDATION
from gardenpath.study.judgment_methods import JUDGMENT_METHODS
from gardenpath.study.measures import MEASURES

from ..tokens.protocols import PROTOCOLS

MAX_UNIT_POSITIONS = 2**20  # padded positions of a unit, at most
Dtype = Literal["float32", "bfloat16", "float16", "float64"]


@dataclass(frozen=True)
class ModelSection:
    """A model, or its revisions, and how it is loaded.

    `gpus` are those that a worker of it has: 0 is a processor, a half is a card for two workers. `parameters` say how large it
    is, where its folder does not.
    """

    __pydantic_config__ = STRICT_VALIDATION

    name: str
    revisions: tuple[str, ...] = ()
    dtype: Dtype = "float32"
    quantization: Literal["8bit", "4bit"] | None = None
    adapter: str | None = None
    prefix_token: str | None = None
    trust_remote_code: bool = False
    gpus: float | None = None
    parameters: float | None = None

    def __post_init__(self) -> None:
        cards = self.gpus
        if cards is not None and (cards < 0 or (cards > 1 and cards != int(cards)) or 0 < cards < 0.05):
            raise ValueError(f"gpus is {cards:g}; expected 0, a share of one GPU such as 0.5, or a whole number")


@dataclass(frozen=True)
class JudgingSection:
    """What models are asked: methods of `judge`, and its options."""

    __pydantic_config__ = STRICT_VALIDATION

    methods: tuple[str, ...]
    templates: tuple[str, ...] = ()
    language: str | None = None
    prompt_tokenization: Literal["whole", "parts"] = "whole"
    label_scoring: Literal["first", "sum"] = "first"
    both_orders: bool = False
    original_implementation: bool = False
    chat: bool | None = None

    def __post_init__(self) -> None:
        _expect_known("methods", self.methods, JUDGMENT_METHODS)


@dataclass(frozen=True)
class CostSection:
    """What an hour of a card, and of a processor, costs."""

    __pydantic_config__ = STRICT_VALIDATION

    gpu_hour: float = 0.0
    processor_hour: float = 0.0
    currency: str = "EUR"


@dataclass(frozen=True)
class Sweep:
    """A file sweep.toml; `folder` is where it lies, and paths in it begin there."""

    __pydantic_config__ = STRICT_VALIDATION

    models: tuple[ModelSection, ...]
    materials: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    store: str = "store"
    measures: tuple[str, ...] = ("lp",)
    protocols: tuple[str, ...] = ()
    unigrams: str | None = None
    judging: JudgingSection | None = None
    cost: CostSection = CostSection()
    gpus: float = 0
    threads: int = 1
    batch_tokens: int | None = None
    unit_size: int = MAX_UNIT_POSITIONS
    skip_bad: bool = False
    seed: int = 1
    path: str = ""

    def __post_init__(self) -> None:
        if not self.models:
            raise ValueError("there is no model; expected [[models]] with a name")
        if not self.materials and not self.files:
            raise ValueError("there are no materials; expected [materials] with files by language, or files")
        if not 1 <= self.unit_size <= MAX_UNIT_POSITIONS:
            raise ValueError(f"unit_size is {self.unit_size}; expected 1 to {MAX_UNIT_POSITIONS} padded positions")
        if self.threads < 1:
            raise ValueError(f"threads is {self.threads}; expected 1 or more")
        _expect_known("measures", self.measures, MEASURES)
        _expect_known("protocols", self.protocols, PROTOCOLS)
        if not self.measures and self.judging is None:
            raise ValueError("there are no measures; expected some, or [judging] with methods")

    @property
    def folder(self) -> Path:
        """The folder of sweep.toml."""
        return Path(self.path).resolve().parent

    def resolve_path(self, path: str) -> str:
        """Return a path as it stands in sweep.toml from anywhere; addresses stay as they are."""
        return path if "://" in path else str(self.folder / path)


def _expect_known(key: str, names: tuple[str, ...], known: Mapping[str, object]) -> None:
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"{key} has {unknown[0]!r}; expected some of {', '.join(known)}")


def read_sweep(path: str | Path) -> Sweep:
    """Return what a sweep.toml says; raises `study.DataError` with every fault.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "sweep.toml").write_text('files = ["pairs.csv"]\\n[[models]]\\nname = "gpt2"\\n')
    ...     read_sweep(f"{folder}/sweep.toml").models[0].name
    'gpt2'
    """
    sweep_path = Path(path)
    if not sweep_path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file; expected sweep.toml with [[models]] and [materials]")
    stated = study.config.read_toml(sweep_path)
    return study.config.parse_dataclass(
        Sweep, {**stated, "path": str(sweep_path.resolve())}, where=str(path), file_kind="sweep.toml"
    )
