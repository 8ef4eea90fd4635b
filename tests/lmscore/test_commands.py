"""The commands score and evaluate write tables with sidecars that name the model."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from gardenpath import study
from gardenpath.cli.evaluate import command as evaluate
from gardenpath.cli.score import command as score

pytestmark = pytest.mark.lm

LINES = [
    {
        "sentence_good": "No student has ever complained.",
        "sentence_bad": "The student has ever complained.",
        "linguistics_term": "npi_licensing",
        "UID": "npi",
        "pairID": "0",
        "two_prefix_prefix_good": "No student has",
        "two_prefix_prefix_bad": "The student has",
        "two_prefix_word": "ever",
    },
    {
        "sentence_good": "The keys to the cabinet are old.",
        "sentence_bad": "The keys to the cabinet is old.",
        "linguistics_term": "agreement",
        "UID": "attractor",
        "pairID": "0",
    },
]


@pytest.fixture
def pairs_file(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return path


def run(command, *arguments):
    return CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False)


def test_score_writes_both_tables_and_says_which_model_made_them(folders, pairs_file, tmp_path):
    result = run(score, pairs_file, "--model", folders["gpt2"], "--device", "cpu", "-o", tmp_path / "scores")
    assert result.exit_code == 0, result.output
    surprisal = study.read(tmp_path / "scores", "surprisal")
    assert len(surprisal) == 5 + 5 + 7 + 7
    assert len(study.read(tmp_path / "scores", "sentence_scores")) == 4
    side = study.read_sidecar(tmp_path / "scores" / "surprisal.csv")
    assert side["model"]["prefix_token"] == "<|endoftext|>"
    assert side["model"]["dtype"] == "float32"
    assert side["protocol"]["default"].startswith("the prefix token is fed before every text")
    assert side["inputs"] == {"pairs.jsonl": study.sha256(pairs_file)}


def test_nothing_is_overwritten_without_force(folders, pairs_file, tmp_path):
    arguments = (pairs_file, "--model", folders["gpt2"], "--device", "cpu", "-o", tmp_path)
    first = run(score, *arguments)
    assert first.exit_code == 0
    before = (tmp_path / "surprisal.csv").read_bytes()
    with pytest.raises(FileExistsError, match="give --force"):
        run(score, *arguments)
    assert run(score, *arguments, "--force").exit_code == 0
    assert (tmp_path / "surprisal.csv").read_bytes() == before


def test_evaluate_writes_pairs_and_accuracy_and_prints_the_accuracy(folders, pairs_file, tmp_path):
    chosen = ("--model", folders["llama"], "--device", "cpu", "--measure", "lp", "--measure", "critical_lp")
    result = run(evaluate, pairs_file, *chosen, "-o", tmp_path)
    assert result.exit_code == 0, result.output
    pairs = study.read(tmp_path, "pairs")
    assert pairs.groupby("measure").size().to_dict() == {"lp": 2, "critical_lp": 1}
    accuracy = study.read(tmp_path, "accuracy")
    assert {"npi", "attractor"} <= set(accuracy["paradigm"])
    assert "npi_licensing" in result.stdout
    assert study.read_sidecar(tmp_path / "accuracy.csv")["models"][0]["architecture"] == "LlamaForCausalLM"


def test_help_of_the_commands_imports_neither_torch_nor_pandas():
    code = (
        "import sys; from gardenpath.cli.main import cli\n"
        "for name in ('score', 'evaluate'):\n"
        "    cli.main([name, '--help'], standalone_mode=False)\n"
        "print([m for m in ('torch', 'transformers', 'pandas', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "--prefix-token" in done.stdout


def test_importing_lmscore_imports_no_torch():
    code = (
        "import sys; from gardenpath import lmscore; print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
