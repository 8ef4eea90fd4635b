"""The commands score and evaluate write tables with sidecars that name the model."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from gardenpath import lmscore, study
from gardenpath.cli.evaluate import command as evaluate
from gardenpath.cli.score import command as score

from .test_masked import bert

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


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "gardenpath" / "scores"


def run(command, *arguments):
    # A command keeps the help options of its first call, which are those of the whole program otherwise.
    names = ["-h", "--help"]
    return CliRunner().invoke(command, [str(a) for a in arguments], catch_exceptions=False, help_option_names=names)


def test_score_writes_both_tables_and_says_which_model_made_them(folders, pairs_file, tmp_path):
    result = run(score, pairs_file, "--model", folders["gpt2"], "--device", "cpu", "-o", tmp_path / "scores")
    assert result.exit_code == 0, result.output
    surprisal = study.read(tmp_path / "scores", "surprisal")
    assert len(surprisal) == 5 + 5 + 7 + 7
    assert len(study.read(tmp_path / "scores", "sentence_scores")) == 4
    side = study.files.read_sidecar(tmp_path / "scores" / "surprisal.csv")
    assert side["model"]["prefix_token"] == "<|endoftext|>"
    assert side["model"]["dtype"] == "float32"
    assert side["protocol"]["default"].startswith("the prefix token is fed before every text")
    assert side["inputs"] == {"pairs.jsonl": study.files.hash_file(pairs_file)}


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
    assert study.files.read_sidecar(tmp_path / "accuracy.csv")["models"][0]["architecture"] == "LlamaForCausalLM"


def test_evaluate_sets_several_models_side_by_side(folders, pairs_file, tmp_path):
    names = [str(folders[kind]) for kind in ("gpt2", "llama")]
    models = [option for name in names for option in ("--model", name)]
    result = run(evaluate, pairs_file, *models, "--device", "cpu", "--measure", "lp", "--measure", "two_prefix", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    pairs = study.read(tmp_path, "pairs")
    assert pairs.groupby(["model", "measure"]).size().to_dict() == {
        (name, measure): n for name in names for measure, n in (("lp", 2), ("two_prefix", 1))
    }
    table = study.table_files.read_csv(tmp_path / "accuracy_by_model.csv")
    assert list(table.columns) == ["measure", "phenomenon", *names]
    assert table["phenomenon"].tolist() == ["npi_licensing", "agreement", "mean", "pooled", "npi_licensing", "mean", "pooled"]
    side = study.files.read_sidecar(tmp_path / "accuracy_by_model.csv")
    assert [model["name"] for model in side["models"]] == names
    assert side["seed"] == 1
    for name in names:
        noise = side["noise"][name]["lp"]
        assert noise["nats"] < 1e-3
        assert noise["verdicts"] == 2
        assert f"{name}, lp: scores moved by up to {noise['nats']:.1e} nats in another batch; 0 of 2 verdicts lie" in result.stdout


def test_causal_masked_and_ngram_models_stand_side_by_side(folders, pairs_file, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("No student has complained.\nThe keys are old.\n" * 4)
    names = [str(folders["gpt2"]), str(bert(tmp_path / "bert")), f"ngram:{corpus}"]
    models = [option for name in names for option in ("--model", name)]
    result = run(evaluate, pairs_file, *models, "--device", "cpu", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    pairs = study.read(tmp_path, "pairs")
    protocols = dict.fromkeys(pairs["model"].unique())
    assert dict(zip(pairs["model"], pairs["protocol"], strict=True)) == dict(
        zip(protocols, ["default", "pll-word-l2r", "default"], strict=True)
    )
    assert len(study.table_files.read_csv(tmp_path / "accuracy_by_model.csv").columns) == 2 + 3
    side = study.files.read_sidecar(tmp_path / "pairs.csv")
    assert list(side["protocol"]) == ["default", "pll-word-l2r"]
    spaced = ("--protocol", "lm-eval", "--protocol", "pll")
    again = run(evaluate, pairs_file, *models, *spaced, "--device", "cpu", "-o", tmp_path, "--force")
    assert again.exit_code == 0, again.output
    assert study.read(tmp_path, "pairs")["protocol"].unique().tolist() == ["lm-eval", "pll"]


def test_a_model_given_twice_is_a_wrong_call(folders, pairs_file, tmp_path):
    result = run(evaluate, pairs_file, "--model", folders["gpt2"], "--model", folders["gpt2"], "-o", tmp_path)
    assert result.exit_code == 2
    assert "a model is given twice; expected each once" in result.output


def test_programs_read_json(folders, pairs_file, tmp_path):
    how = (pairs_file, "--model", folders["gpt2"], "--device", "cpu", "--json", "-o", tmp_path)
    scored = json.loads(run(score, *how).stdout)
    assert {name: table["rows"] for name, table in scored["tables"].items()} == {"surprisal": 24, "sentence_scores": 4}
    assert scored["model"]["dtype"] == "float32"
    assert list(scored["protocol"]) == ["default"]
    evaluated = json.loads(run(evaluate, *how).stdout)
    [mean] = [row for row in evaluated["accuracy"] if row["paradigm"] == "mean"]
    assert mean["wilson_low"] is None
    assert mean["accuracy"] == study.read(tmp_path, "accuracy").query("paradigm == 'mean'")["accuracy"].item()
    assert list(evaluated["noise"]) == [str(folders["gpt2"])]


def test_a_protocol_and_unigrams_stand_in_tables_and_sidecars(folders, pairs_file, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("The student has complained.\n")
    how = ("--model", folders["gpt2"], "--device", "cpu", "--protocol", "lm-eval", "--unigrams", corpus)
    assert run(score, pairs_file, *how, "-o", tmp_path / "scores").exit_code == 0
    assert run(evaluate, pairs_file, *how, "--measure", "slor", "-o", tmp_path / "results").exit_code == 0
    for folder, name in (("scores", "surprisal"), ("scores", "sentence_scores"), ("results", "pairs"), ("results", "accuracy")):
        assert set(study.read(tmp_path / folder, name)["protocol"]) == {"lm-eval"}
        side = study.files.read_sidecar(tmp_path / folder / f"{name}.csv")
        assert "a space stands before its first word" in side["protocol"]["lm-eval"]
        assert side["inputs"]["corpus.txt"] == study.files.hash_file(corpus)
    assert study.read(tmp_path / "scores", "sentence_scores")["slor"].notna().all()


def test_the_choices_are_those_of_lmscore():
    choices = {option.name: option.type.choices for option in evaluate.params if hasattr(option.type, "choices")}
    assert list(choices["measures"]) == list(lmscore.MEASURES)
    assert list(choices["protocols"]) == list(lmscore.PROTOCOLS)


def many(tmp_path, pairs: int):
    """A file of pairs that no two share a sentence."""
    path = tmp_path / "many.jsonl"
    lines = [
        {**LINES[1], "pairID": str(k), "sentence_good": f"The {k} keys are old.", "sentence_bad": f"The {k} keys is old."}
        for k in range(pairs)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def start(arguments, stderr) -> subprocess.Popen:
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from gardenpath.cli.main import main; main()"
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stderr=stderr, stdout=subprocess.PIPE)


SLOW = """
import time
from gardenpath.cli.options import show_progress
with show_progress("sentences", 1) as move:
    for done in range(0, 80, 20):
        time.sleep(0.6)  # the time left is told from the second second on
        move(done, 80)
"""


def test_a_terminal_shows_the_bar_with_speed_and_time_left():
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", SLOW], stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the terminal closes with the process
            break
        shown += part
        if not part:
            break
    assert process.wait() == 0
    assert re.search(r"sentences .*60/80 .*\d\d:\d\d:\d\d.* \d+(\.\d)?/s", shown.decode())


def test_an_interrupt_ends_in_one_line_and_what_was_computed_is_kept(folders, tmp_path, own_cache):
    out = tmp_path / "out"
    arguments = ("score", many(tmp_path, 3000), "--model", folders["gpt2"], "--device", "cpu", "-o", out)

    def kept() -> int:
        return sum(path.stat().st_size for path in own_cache.rglob("*.shard"))

    with open(tmp_path / "told", "w+b") as told:
        process = start((*arguments, "--batch-tokens", 64), told)
        while not kept():
            assert process.poll() is None, (tmp_path / "told").read_text()
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    lines = (tmp_path / "told").read_text().splitlines()
    assert lines[-1].startswith("interrupted; outputs are written whole or not at all")
    assert not any("Traceback" in line for line in lines)
    assert not (out / "surprisal.csv").exists()
    before = kept()
    result = run(score, *arguments[1:])
    assert result.exit_code == 0, result.output
    assert kept() > before > 0
    assert len(study.read(out, "sentence_scores")) == 6000


def test_a_second_run_computes_nothing_and_writes_the_same_tables(folders, pairs_file, tmp_path, own_cache):
    how = (pairs_file, "--model", folders["gpt2"], "--device", "cpu")
    assert run(score, *how, "--no-cache", "-o", tmp_path / "none").exit_code == 0
    assert not own_cache.exists()
    assert run(score, *how, "--cache", tmp_path / "kept", "-o", tmp_path / "first").exit_code == 0
    shards = {path: path.stat().st_size for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    assert run(score, *how, "--cache", tmp_path / "kept", "-o", tmp_path / "second").exit_code == 0
    assert {path: path.stat().st_size for path in (tmp_path / "kept").rglob("*") if path.is_file()} == shards
    tables = [(tmp_path / run / "surprisal.csv").read_bytes() for run in ("none", "first", "second")]
    assert tables[0] == tables[1] == tables[2]


def test_help_of_the_commands_imports_neither_torch_nor_transformers():
    code = (
        "import sys; from gardenpath.cli.main import cli\n"
        "for name in ('score', 'evaluate'):\n"
        "    cli.main([name, '--help'], standalone_mode=False)\n"
        "print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "--prefix-token" in done.stdout


def test_importing_lmscore_imports_no_torch():
    code = "import sys; from gardenpath import lmscore; print([m for m in ('torch', 'transformers') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_was_asked_for_is_the_models_name_in_every_table_and_sidecar(folders, pairs_file, tmp_path):
    pytest.importorskip("accelerate", reason="the extra quantized is not installed")
    parts = ("model.embed_tokens", "model.layers.0", "model.layers.1", "model.norm", "model.rotary_emb", "lm_head")
    spread = tmp_path / "map.json"
    spread.write_text(json.dumps({part: "disk" if part == "model.layers.1" else "cpu" for part in parts}))
    name = f"{folders['llama']} (bfloat16)"
    how = ("--model", folders["llama"], "--dtype", "bfloat16", "--device-map", spread)
    for command, table in ((score, "surprisal"), (score, "sentence_scores"), (evaluate, "pairs")):
        out = tmp_path / table
        assert run(command, pairs_file, *how, "-o", out).exit_code == 0
        assert set(study.read(out, table)["model"]) == {name}
        side = study.files.read_sidecar(out / f"{table}.csv")
        said = side.get("model") or side["models"][0]
        assert (said["name"], said["dtype"], said["devices"]) == (name, "bfloat16", ["cpu", "disk"])
    spread.write_text("[1]")
    refused = run(score, pairs_file, *how, "-o", tmp_path / "refused")
    assert "holds no object; expected modules and their devices" in refused.output


def test_a_study_is_scored_in_its_language_which_its_items_do_not_state(folders, tmp_path):
    """The answer *oui* is none in English, which materials without a language are."""
    row = "p,p,i1,only,Le chat [dort] bien.,Dort-il ?,oui"
    (tmp_path / "items.csv").write_text(f"paradigm,phenomenon,item,condition,sentence,question,answer\n{row}\n")
    (tmp_path / "study.toml").write_text(
        'name = "s"\nlanguage = "fr"\nseed = 1\n[materials]\nfiles = ["items.csv"]\n[design]\nlists = 1\n'
    )
    with pytest.raises(study.DataError, match=r"an answer out of yes, no \(the language is en;"):
        run(score, tmp_path / "items.csv", "--model", folders["gpt2"], "-o", tmp_path / "no")
    assert run(score, tmp_path / "study.toml", "--model", folders["gpt2"], "-o", tmp_path / "scores").exit_code == 0
    assert study.read(tmp_path / "scores", "surprisal")["text"].tolist() == ["Le", "chat", "dort", "bien."]
    noted = json.loads((tmp_path / "scores" / "surprisal.csv.meta.json").read_text())["inputs"]
    assert [name.rpartition("/")[2] for name in noted] == ["study.toml", "items.csv"]
    with pytest.raises(study.DataError, match=r"study.toml beside 1 more; expected one STUDY.toml, or materials"):
        run(score, tmp_path / "study.toml", tmp_path / "items.csv", "--model", folders["gpt2"], "-o", tmp_path / "again")
    assert not (tmp_path / "again").exists()
