"""What a model says when it is asked to judge: by hand, against loops, in both orders, through chat templates."""

import json
import math

import numpy as np
import pytest

from gardenpath import lmscore, stimuli, study
from gardenpath.lmscore.judging import generation, judgment_requests
from gardenpath.lmscore.judging.chat_format import choose_chat_format
from gardenpath.study.judgment_methods import JUDGMENT_METHODS

from . import kinds
from .conftest import llama, save
from .prompting import TURNS, by_hand, materials, pair, speaking, template

pytestmark = pytest.mark.lm

GOOD, BAD = "the dog barks", "the dog bark"
# P(next | last): what follows "barks" or "bark" is the judgment.
TABLE = {
    "<end>": {"the": 0.5, "fine:": 0.25},
    "the": {"dog": 0.5},
    "fine:": {"the": 0.5},
    "dog": {"barks": 0.4, "bark": 0.2},
    "barks": {"Yes": 0.6, "No": 0.2, "A": 0.3 / 8, "B": 0.7 / 8, "and": 0.01, "1": 0.01, "2": 0.02, "3": 0.01},
    "bark": {"Yes": 0.1, "No": 0.3, "A": 0.4, "B": 0.1, "and": 0.02, "1": 0.03, "2": 0.01, "3": 0.01},
    "and": {"the": 0.5},
}
SINGLE = template("single", "fine: {{ sentence }}")
COMPARED = template("comparative", "{{ a }} and {{ b }}")
YES_NO = template("yes_no", "{{ sentence }}", ("Yes", "No"), space=" ")
AB = template("ab", "{{ a }} and {{ b }}", ("A", "B"), space=" ")
RATE = template("rate", "{{ sentence }}", ("1", "2", "3"), space=" ")
CHOOSE = template("choose", "{{ a }} and {{ b }}", ("A", "B"), space=" ")


@pytest.fixture(scope="module")
def hand(tmp_path_factory):
    return lmscore.load(by_hand(tmp_path_factory.mktemp("hand"), TABLE), device="cpu", dtype="float64")


def judged(model, methods, templates, *items, **how):
    """The rows of each pair by method."""
    table = lmscore.judge(materials(*(items or [pair(GOOD, BAD)])), model, methods, templates=templates, **how)
    return table.set_index(["method", "item"])


def test_nine_methods_and_two_are_what_they_are_by_hand(hand):
    templates = [SINGLE, COMPARED, YES_NO, AB, RATE, CHOOSE]
    methods = [name for name in JUDGMENT_METHODS if not name.endswith("generated")]
    table = judged(hand, methods, templates, seed=1).droplevel("item")
    scores = table[["score_grammatical", "score_ungrammatical"]].astype(float)
    good, bad = math.log(0.5 * 0.5 * 0.4), math.log(0.5 * 0.5 * 0.2)
    assert scores.loc["lp"].tolist() == pytest.approx([good, bad])
    assert scores.loc["mean_lp"].tolist() == pytest.approx([good / 3, bad / 3])
    assert scores.loc["pen_lp"].tolist() == pytest.approx([good / (8 / 6) ** 0.8, bad / (8 / 6) ** 0.8])
    whole = [math.log(0.25 * 0.5 * 0.5 * end) for end in (0.4, 0.2)]
    assert scores.loc["template_lp"].tolist() == pytest.approx(whole)
    assert scores.loc["template_mean_lp"].tolist() == pytest.approx([lp / 4 for lp in whole])
    assert scores.loc["template_pen_lp"].tolist() == pytest.approx([lp / (9 / 6) ** 0.8 for lp in whole])
    path = math.log(0.5 * 0.5) + math.log(0.5 * 0.5)  # the dog ... the dog, after the end and after "and"
    expected = [path + math.log(0.4 * 0.01 * 0.2), path + math.log(0.2 * 0.02 * 0.4)]
    assert scores.loc["comparative"].tolist() == pytest.approx(expected)
    assert scores.loc["yes_no"].tolist() == pytest.approx([0.6 / 0.8, 0.1 / 0.4])
    assert table.loc["yes_no", "answer_probability"] == pytest.approx((0.8 + 0.4) / 2)
    assert table.loc["yes_no", "response"] == "Yes | No"
    points = [(0.01 + 2 * 0.02 + 3 * 0.01) / 0.04, (0.03 + 2 * 0.01 + 3 * 0.01) / 0.05]
    assert scores.loc["rate"].tolist() == pytest.approx(points)
    assert table.loc["rate", "response"] == "2 | 1"
    for method in ("ab", "choose"):  # the member shown last decides which row of the table is read
        row = table.loc[method]
        last = TABLE["bark" if row["order"] == "grammatical" else "barks"]
        lps = [math.log(last["A"]), math.log(last["B"])]
        assert scores.loc[method].tolist() == pytest.approx(lps if row["order"] == "grammatical" else lps[::-1])
        assert row["response"] == ("A" if last["A"] > last["B"] else "B")
        assert row["answer_probability"] == pytest.approx(last["A"] + last["B"])
    assert (table["correct"] == (scores["score_grammatical"] > scores["score_ungrammatical"])).all()
    assert table["tokens_grammatical"].tolist() == [3] * 11


def test_both_orders_are_the_mean_and_exchange_with_the_members(hand):
    methods, templates = ["ab", "choose"], [AB, CHOOSE]
    here = judged(hand, methods, templates, both_orders=True)
    there = judged(hand, methods, templates, pair(BAD, GOOD), both_orders=True)
    for one, other in (("grammatical", "ungrammatical"), ("ungrammatical", "grammatical")):
        assert here[f"score_{one}"].tolist() == there[f"score_{other}"].tolist()
    first, second = TABLE["bark"], TABLE["barks"]
    expected = (math.log(first["A"]) + math.log(second["B"])) / 2, (math.log(first["B"]) + math.log(second["A"])) / 2
    assert here.loc[("ab", "i1"), ["score_grammatical", "score_ungrammatical"]].tolist() == pytest.approx([*expected])
    assert here.loc[("ab", "i1"), "response"] == "A | B"
    same = judged(hand, methods, templates, pair(GOOD, GOOD), both_orders=True)
    assert same["tie"].all()
    assert not same["correct"].any()


def test_orders_are_drawn_for_each_pair_alone(hand):
    items = [pair(GOOD, BAD, f"i{k}") for k in range(60)]
    orders = judged(hand, ["ab"], [AB], *items)["order"].droplevel("method")
    assert 15 < (orders == "grammatical").sum() < 45
    assert judged(hand, ["ab"], [AB], *items[20:30])["order"].droplevel("method").equals(orders[20:30])
    assert not judged(hand, ["ab"], [AB], *items, seed=2)["order"].droplevel("method").equals(orders)


def logits(model, ids):
    """The model's own logits after some ids."""
    import torch

    with torch.no_grad():
        return model.network(torch.tensor([ids]), use_cache=False).logits[0, -1].double().numpy()


@pytest.mark.parametrize("kind", [*kinds.KINDS, "llama"])
def test_yes_or_no_is_the_sigmoid_of_a_double_loop(kind, tmp_path):
    folder = llama(tmp_path / "llama") if kind == "llama" else kinds.folder(tmp_path, kind)
    model = lmscore.load(folder, device="cpu")
    asked = template("yes_no", "did it? {{ sentence }}", ("it", "did") if kind != "characters" else ("y", "n"), space=" ")
    items = [pair("the cat did it.", "the cat did did.", "i1"), pair("it did.", "it it.", "i2")]
    table = judged(model, ["yes_no"], [asked], *items)
    tokenizer = model.encoder.tokenizer
    for item in items:
        expected = []
        for condition in ("grammatical", "ungrammatical"):
            prompt = f"did it? {item.sentences[condition].text}"
            odds = []
            for label in asked.labels:
                spaced, bare = (tokenizer(prompt + each, add_special_tokens=False)["input_ids"] for each in (f" {label}", label))
                [start] = [len(tokenizer(prompt, add_special_tokens=False)["input_ids"])]
                ids = next((each for each in (spaced, bare) if len(each) == start + 1), spaced)
                lp = 0.0
                for k in range(start, len(ids)):
                    row = logits(model, [model.encoder.prefix, *ids[:k]])
                    lp += row[ids[k]] - np.logaddexp.reduce(row)
                odds.append(lp)
            expected.append(1 / (1 + math.exp(odds[1] - odds[0])))
        row = table.loc[("yes_no", item.id)]
        assert [row["score_grammatical"], row["score_ungrammatical"]] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("join", ["whole", "parts"])
def test_labels_that_a_model_cannot_tell_apart_are_no_ties(tmp_path, join):
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = kinds.of_characters()  # which knows neither 是 nor 否
    folder = save(
        tmp_path, tokenizer, GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=8, n_layer=1, n_head=1))
    )
    with pytest.raises(study.DataError, match="are the same tokens to"):
        judged(lmscore.load(folder), ["yes_no"], [template("yes_no", "{{ sentence }}?", ("是", "否"))], prompt_tokenization=join)


def test_parts_are_tokenised_each_by_itself(byte_model):
    one = template("single", "The cat {{ sentence }} sat.")
    item = pair("on the mat", "on the table")
    apart = judged(byte_model, ["template_lp"], [one], item, prompt_tokenization="parts")
    whole = judged(byte_model, ["template_lp"], [one], item)
    tokenizer = byte_model.encoder.tokenizer
    for table, ids in (
        (apart, [i for part in ("The cat ", "on the mat", " sat.") for i in tokenizer(part)["input_ids"]]),
        (whole, tokenizer("The cat on the mat sat.")["input_ids"]),
    ):
        lp, fed = 0.0, [byte_model.encoder.prefix]
        for token in ids:
            row = logits(byte_model, fed)
            lp += row[token] - np.logaddexp.reduce(row)
            fed.append(token)
        assert table["score_grammatical"].item() == pytest.approx(lp, abs=1e-9)
    assert apart["score_grammatical"].item() != pytest.approx(whole["score_grammatical"].item(), abs=1e-3)


def test_as_released_is_the_released_code(hand, tmp_path):
    """Nothing fed but what the tokenizer adds, parts, a space after the cue, and a ratio of raw logits."""
    model = lmscore.load(llama(tmp_path / "llama"), device="cpu", dtype="float64")
    tokenizer = model.encoder.tokenizer
    single = template("single", "The cat: {{ sentence }}")
    yes_no = template("yes_no", "the cat? {{ sentence }}", ("a", "b"), space=" ", answer="\nit:")
    table = judged(model, ["template_lp", "yes_no"], [single, yes_no], pair("on the mat.", "on mat."), original_implementation=True)
    scores = []
    for text in ("on the mat.", "on mat."):
        row = logits(model, tokenizer(f"the cat? {text}\nit: ")["input_ids"])
        yes, no = (row[tokenizer.convert_tokens_to_ids(label)] for label in ("a", "b"))
        scores.append(yes / (yes + no))
    assert table.loc[("yes_no", "i1"), ["score_grammatical", "score_ungrammatical"]].tolist() == pytest.approx(scores)
    # A tokenizer that adds nothing: the first token is fed and not scored.
    row = judged(hand, ["template_lp", "lp"], [SINGLE], original_implementation=True)["score_grammatical"].droplevel("item")
    assert row["template_lp"] == pytest.approx(math.log(0.5 * 0.5 * 0.4))
    assert row["lp"] == pytest.approx(math.log(0.5 * 0.4))


def test_labels_summed_are_all_ways_to_write_them(byte_model):
    asked = template("yes_no", "{{ sentence }}?", ("Yes", "No"), space=" ")
    [one, summed] = (
        judged(byte_model, ["yes_no"], [asked], pair("The cat sat", "The cat sit"), label_scoring=how) for how in ("first", "sum")
    )
    ways = [space + case for space in (" ", "") for case in ("Yes", "yes", "YES")]
    asked_for = [*ways, *(way.replace("Yes", "No").replace("yes", "no").replace("YES", "NO") for way in ways)]
    lps = lmscore.answer_lps(byte_model.forward(lmscore.encode_continuations(byte_model, "The cat sat?", asked_for)))
    expected = np.exp(lps[:6]).sum() / np.exp(lps).sum()
    assert summed["score_grammatical"].item() == pytest.approx(expected, abs=1e-9)
    assert summed["answer_probability"].item() > one["answer_probability"].item()


# What the documentation of each family says becomes of a system's and a user's words; `None`: no system role.
SAID = {
    "llama": "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
    "Today Date: 26 Jul 2024\n\nBe brief.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nIs it?<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "qwen": "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nIs it?<|im_end|>\n<|im_start|>assistant\n"
    "<think>\n\n</think>\n\n",
    "mixtral": "<s>[INST] Be brief. Is it? [/INST]",
    "gemma": "<bos><start_of_turn>user\nBe brief. Is it?<end_of_turn>\n<start_of_turn>model\n",
    "phi": "<|system|>\nBe brief.<|end|>\n<|user|>\nIs it?<|end|>\n<|assistant|>\n",
}


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    base = tmp_path_factory.mktemp("families")
    return {family: lmscore.load(speaking(base, family), device="cpu") for family in TURNS}


@pytest.mark.parametrize("family", TURNS)
def test_a_chat_template_says_what_its_documentation_says(family, families):
    model = families[family]
    spoken = choose_chat_format(model)
    prompt = spoken.render_prompt("Be brief.", "Is it?")
    assert prompt == SAID[family]
    none = family in ("mixtral", "gemma")
    assert spoken.metadata["system_role"] == ("none: the system's words open the user's turn" if none else "its own")
    assert spoken.metadata.get("thinking") == ("off" if family == "qwen" else None)
    # The same ids as the tokenizer's own: special tokens as such, and BOS once.
    whole = [{"role": "user", "content": "Be brief. Is it?"}]
    apart = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it?"}]
    own = model.encoder.tokenizer.apply_chat_template(
        whole if none else apart, add_generation_prompt=True, date_string="26 Jul 2024", enable_thinking=False
    )["input_ids"]
    asked = lmscore.encode_continuations(model, prompt, ["Yes", "No"], rendered=True)
    assert [*asked[0].context_ids] == own[: len(asked[0].context_ids)]
    assert len(own) - len(asked[0].context_ids) <= 1  # a line break may join an answer
    bos = TURNS[family][1]
    if bos:
        assert own.count(model.encoder.tokenizer.convert_tokens_to_ids(bos)) == 1


def test_a_template_without_a_system_role_is_recorded(families):
    table = lmscore.judge(materials(pair("The cat sat.", "The cat sit.")), families["gemma"], ["yes_no", "rate"])
    assert table.attrs["asked"]["system_role"] == "none: the system's words open the user's turn"
    assert table.attrs["asked"]["chat_template"]
    plain = lmscore.judge(materials(pair("The cat sat.", "The cat sit.")), families["gemma"], ["rate"], chat=False)
    assert not plain.attrs["asked"]["chat_template"]
    assert plain["score_grammatical"].item() != table.query("method == 'rate'")["score_grammatical"].item()


def test_a_sentence_that_holds_a_special_token_is_left_out(families, caplog):
    items = [
        pair("The cat sat.", "The cat sit.", "i1"),
        pair("The cat<|im_end|>", "The cat.", "i2"),
        pair("The <think> sat.", "The cat.", "i3"),
    ]
    table = lmscore.judge(materials(*items), families["qwen"], ["ab"])
    assert set(table["item"]) == {"i1"}
    assert "the text holds '<|im_end|>', a special token of" in table.attrs["left_out"]["i2"]
    assert "left out: item 'i2': the text holds '<|im_end|>'" in caplog.text
    assert "'<think>'" in table.attrs["left_out"]["i3"]
    assert len(lmscore.judge(materials(*items), families["qwen"], ["ab"], chat=False)) == 15


def test_labels_that_a_model_hardly_gives_are_said(hand, caplog):
    judged(hand, ["rate"], [RATE])
    assert "rate, template 1: the labels have 4 % of the probability (mean), so their comparison says little" in caplog.text
    caplog.clear()
    judged(hand, ["yes_no"], [YES_NO])
    assert "says little" not in caplog.text


def test_sentences_are_never_evaluated():
    one = template("single", "It is {{ sentence }}.")
    assert one.fill("{{ 7 * 7 }}{% raw %}") == ("", "It is {{ 7 * 7 }}{% raw %}.")
    assert one.split_parts("{{ a }}") == ["It is ", "{{ a }}", "."]


@pytest.mark.parametrize(
    ("kind", "user", "labels", "said"),
    [
        ("single", "It is.", (), "template single 1: uses no variable; expected {{ sentence }}"),
        ("ab", "{{ a }} {{ c }}", ("A", "B"), "template ab 1: uses a, c; expected {{ a }} and {{ b }}"),
        ("ab", "{{ a }} {{ b }}", ("A",), "template ab 1: has 1 labels; expected two"),
        ("yes_no", "{{ sentence }}", ("Yes", "Yes"), "labels are Yes, Yes; expected different ones"),
        ("rate", "{{ sentence }}", ("good", "bad"), "labels are good, bad; expected numbers"),
        ("rate", "{{ sentence }}", ("²", "3"), "labels are ², 3; expected numbers"),
        ("single", "{{ sentence", (), "expected a template of jinja2"),
    ],
)
def test_a_template_that_asks_something_else_is_refused(kind, user, labels, said):
    with pytest.raises(ValueError, match=said.replace("{", r"\{")):
        template(kind, user, labels)


def test_each_type_has_five_templates_in_english_and_chinese():
    found = lmscore.read_templates()
    for language in ("en", "zh"):
        for kind in ("single", "comparative", "ab", "yes_no"):
            of_type = [one for one in found if (one.language, one.type) == (language, kind)]
            assert [one.id for one in of_type] == ["1", "2", "3", "4", "5"]
            assert [bool(one.source) for one in of_type] == [True, False, False, False, False]
            assert len({one.user for one in of_type}) == 5
    assert {one.type for one in found if one.language == "nl"} == {"choose", "rate"}


def test_the_authors_own_files_are_read(tmp_path):
    (tmp_path / "template_blimp_single_1.txt").write_text("It is fine.\n\n{sentence}")
    (tmp_path / "template_climp_compar_2.txt").write_text("A：{sentence} B：{other_sentence}")
    for name in ("blimp_ab-chat_1", "blimp_ab_1", "climp_yn-en_3", "climp_yn_3"):
        fields = "{sentence_a} {sentence_b}" if "_ab" in name else "{sentence}"
        said = {"system_prompt": "Judge.", "user_template": f"Which? {fields}"}
        (tmp_path / f"template_{name}.json").write_text(json.dumps(said))
    found = {(one.language, one.type, one.id, one.chat): one for one in lmscore.read_templates(tmp_path)}
    assert found["en", "single", "1", None].fill("So.") == ("", "It is fine.\n\nSo.")
    assert found["zh", "comparative", "2", None].fill("一", "二") == ("", "A：一 B：二")
    assert found["en", "ab", "1", True].fill("One.", "Two.") == ("Judge.", "Which? One. Two.")
    assert found["en", "ab", "1", False].labels == ("A", "B")
    assert found["zh", "yes_no", "3-en", False].labels == ("Yes", "No")
    assert found["zh", "yes_no", "3", False].labels == ("是", "否")
    (tmp_path / "template_blimp_ab_2.json").write_text(json.dumps({"system_prompt": "", "user_template": "{x}"}))
    with pytest.raises(ValueError, match=r"template_blimp_ab_2.json: \{x\} is not known; expected \{sentence\}"):
        lmscore.read_templates(tmp_path)


def test_faults_of_a_file_of_templates_are_named_by_key(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('language = "en"\n[[templates]]\ntype = "yesno"\nid = "1"\nuser = "{{ sentence }}"\n')
    with pytest.raises(study.DataError, match=r"own.toml: key 'templates.0.type' is 'yesno'"):
        lmscore.read_templates(file)


@pytest.mark.parametrize(
    ("user", "said"),
    [
        ("{{ sentence.register.tone }}", "template yes_no 1: 'str object' has no attribute 'register'; expected what"),
        ("{{ sentence / 2 }}", "template yes_no 1: unsupported operand"),
        ("{% for i in range(9999999) %}{{ sentence }}{% endfor %}", "template yes_no 1: Range too big"),
    ],
)
def test_a_template_that_cannot_be_filled_is_named(hand, user, said):
    with pytest.raises(study.DataError, match=said) as raised:
        judged(hand, ["yes_no"], [template("yes_no", user, ("Yes", "No"))])
    assert len(str(raised.value).splitlines()) == 1


def test_a_missing_template_names_the_languages_that_have_it(hand):
    own = [template("yes_no", "{{ sentence }}", ("Yes", "No"))]
    for methods, said in (["ab"], "; expected templates of your own"), (["lp", "choose"], "of choose in 'en'"):
        with pytest.raises((ValueError, study.DataError), match=said) as raised:
            judged(hand, methods, own)
        assert "a language of" not in str(raised.value)


@pytest.fixture(scope="module")
def talker(tmp_path_factory):
    """A model that says, whatever it is asked: Zin 2 <end>."""
    chat = "{% for message in messages %}{{ message['content'] }}{% endfor %}{% if add_generation_prompt %} > {% endif %}"
    table = {
        ">": {"Zin": 0.9, "5": 0.05},
        "Zin": {"2": 0.9, "1": 0.05},
        "2": {"<end>": 0.9},
        "5": {"<end>": 0.9},
        "the": {},
        "dog": {},
    }
    return lmscore.load(by_hand(tmp_path_factory.mktemp("talker"), table, chat), device="cpu")


def test_generated_answers_are_read_and_what_cannot_be_is_wrong(talker):
    choose = template("choose", "{{ a }} {{ b }}", ("Zin 1", "Zin 2"), space=" ")
    rate = template("rate", "{{ sentence }}", ("1", "2", "3", "4", "5", "6", "7"), space=" ")
    items = [pair("the dog", "dog the", f"i{k}") for k in range(12)]
    methods = ["choose_generated", "rate_generated", "choose"]
    table = judged(talker, methods, [choose, rate], *items)
    chosen = table.loc["choose_generated"]
    assert set(chosen["response"]) == {"Zin 2"}
    assert (chosen["correct"] == (chosen["order"] == "ungrammatical")).all()
    assert (chosen["score_grammatical"] + chosen["score_ungrammatical"] == 1).all()
    assert set(table.loc["rate_generated", "response"]) == {"Zin 2 | Zin 2"}
    assert table.loc["rate_generated", "tie"].all()
    assert table.loc["choose", "response"].tolist() == chosen["response"].tolist()
    unread = judged(talker, ["choose_generated"], [template("choose", "{{ a }} {{ b }}", ("Eerste", "Tweede"))], *items)
    assert unread["score_grammatical"].isna().all()
    assert not unread["correct"].any()
    assert not unread["tie"].any()
    assert set(unread["response"]) == {"Zin 2"}
    both = judged(talker, ["choose_generated"], [choose], items[0], both_orders=True)
    assert both["tie"].item()
    assert both["response"].item() == "Zin 2 | Zin 2"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"methods": ["yesno"]}, "method 'yesno'; expected one or more of lp, mean_lp"),
        ({"methods": ["rate_generated"]}, "has no chat template to answer by; expected rate, which reads"),
        ({"methods": ["ab"], "language": "nl"}, "there is no template of ab in 'nl'"),
        ({"methods": None, "language": "tr"}, "there is no template of any type in 'tr'; expected a language of en, nl, zh"),
        ({"methods": ["lp"], "chat": True}, "has no chat template; expected an instruction model"),
        ({"methods": ["lp"], "protocol": "pll"}, "not a masked model, which the protocol pll does not score"),
    ],
)
def test_what_cannot_be_asked_is_one_line(hand, arguments, said):
    with pytest.raises((ValueError, study.DataError), match=said) as raised:
        lmscore.judge(materials(pair(GOOD, BAD)), hand, **arguments)
    assert len(str(raised.value).splitlines()) == 1


def test_a_language_has_the_methods_it_has_templates_for(families):
    texts = ("The cat sat.", "The cat sit.")
    items = [pair(*texts, "i1", language="nl"), pair(*texts, "i2", language="en-GB"), pair(*texts, "i3", language="tr")]
    table = lmscore.judge(materials(*items), families["phi"])
    assert set(table.query("item == 'i1'")["method"]) == {"lp", "mean_lp", "pen_lp", "choose", "rate"}
    counts = table.query("item == 'i2'").groupby("method", sort=False).size()
    assert counts.to_dict() == {name: 5 if JUDGMENT_METHODS[name].prompts else 1 for name in [*JUDGMENT_METHODS][:9]}
    assert "there is no template of any type in 'tr'" in table.attrs["left_out"]["i3"]


def test_what_is_cached_is_not_computed_again(hand, tmp_path, monkeypatch):
    model = lmscore.add_cache(hand, tmp_path)
    items = materials(*(pair(GOOD, BAD, f"i{k}") for k in range(3)))
    how = {"templates": [SINGLE, COMPARED, YES_NO, AB, RATE]}
    methods = ["lp", "template_lp", "comparative", "yes_no", "ab", "rate"]
    first = lmscore.judge(items, model, methods, **how)

    def refuse(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(type(hand), "_compute", refuse)
    again = lmscore.judge(items, lmscore.add_cache(hand, tmp_path), methods, **how)
    assert again.equals(first)


def test_a_prompt_longer_than_the_model_takes_is_left_out(hand):
    long = " ".join(["the dog"] * 40)
    table = judged(hand, ["yes_no"], [YES_NO], pair(GOOD, BAD), pair(f"{long} barks", f"{long} bark", "i2"))
    assert table.index.get_level_values("item").tolist() == ["i1"]
    assert "tokens; expected at most 64" in table.attrs["left_out"]["i2"]


def test_chinese_prompts_have_no_space_before_an_answer(families, monkeypatch):
    seen = []

    def recorded(model, prompt, answers, **rest):
        seen.append((prompt, answers))
        return lmscore.encode_continuations(model, prompt, answers, **rest)

    monkeypatch.setattr(judgment_requests, "encode_continuations", recorded)
    read = materials(pair("猫在家。", "猫家在。", language="zh"))
    lmscore.judge(read, families["phi"], ["yes_no"], chat=False)
    prompt, answers = seen[0]
    assert prompt.startswith("您的任务是评估给定文本的质量。下面的句子符合语法要求吗？")
    assert prompt.endswith("\n答案：")
    assert answers == ["是", "否"]


def test_below_float32_it_runs(tmp_path):
    model = lmscore.load(by_hand(tmp_path, TABLE), device="cpu", dtype="bfloat16")
    table = judged(model, ["yes_no", "template_lp"], [YES_NO, SINGLE])
    assert table.loc[("yes_no", "i1"), "score_grammatical"] == pytest.approx(0.75, abs=0.02)


def test_a_corpus_is_judged_whole(byte_model, tmp_path):
    file = tmp_path / "npi.jsonl"
    row = {"sentence_good": "The cat sat.", "sentence_bad": "The cat sit.", "field": "x", "linguistics_term": "t", "UID": "u"}
    file.write_text("".join(json.dumps({**row, "pairID": str(k)}) + "\n" for k in range(3)))
    table = lmscore.judge(stimuli.read(file), byte_model, ["lp"])
    pairs = lmscore.evaluate(stimuli.read(file), byte_model)
    assert table["score_grammatical"].tolist() == pairs["score_grammatical"].tolist()


def test_generated_answers_are_kept_and_no_weights_are_needed_for_them(talker, tmp_path, monkeypatch):
    choose = template("choose", "{{ a }} {{ b }}", ("Zin 1", "Zin 2"), space=" ")
    rate = template("rate", "{{ sentence }}", ("1", "2", "3"), space=" ")
    asked = [choose, rate], pair("the dog", "dog the"), pair("the the dog", "dog dog the", "i2")
    methods = ["choose_generated", "rate_generated"]
    plain = judged(talker, methods, *asked)
    computed = []
    real = generation._generate_batch
    monkeypatch.setattr(generation, "_generate_batch", lambda model, batch: computed.extend(batch) or real(model, batch))
    for expected in (6, 0):  # of each pair one order to choose in, and each member to rate
        computed.clear()
        assert judged(lmscore.add_cache(talker, tmp_path), methods, *asked).equals(plain)
        assert len(computed) == expected
