"""Forms of UniMorph and of trees: tags as features, faults of annotation, ways of writing, hand patches, and files that are none."""

import lzma
from collections import Counter
from pathlib import Path

import pytest

from gardenpath import study
from gardenpath.stimuli.treebanks import tables
from gardenpath.stimuli.treebanks.forms import FormIndex, Transliteration
from gardenpath.stimuli.treebanks.trees import parse_features

TABLE = """\
lopen\tloop\tV;IND;PRS;1;SG

lopen\tlopen\tV;IND;PRS;1/2/{3};PL
lopen\tgelopen\tV.PTCP;PST
lopen\tlope\tV;PFV+SBJV;XYZ;QQQ
mooi\tmooie\tADJ;DEF
ev\tevler\tN;NOM;PL;PSS1S
eman\tdiot\tV;ARGABSSG;NOM(1,SG)
huis\thuizen\tN;IN+ESS;PL
"""
ENTRIES = [
    ("loop", "VERB", "Mood=Ind|Tense=Pres|Person=1|Number=Sing|VerbForm=Fin"),
    ("lopen", "VERB", "Mood=Ind|Tense=Pres|Person=1,2,3|Number=Plur|VerbForm=Fin"),
    ("gelopen", "VERB", "VerbForm=Part|Tense=Past"),
    ("lope", "VERB", "Aspect=Perf|Mood=Sub|VerbForm=Fin"),
    ("evler", "NOUN", "Case=Nom|Number=Plur|PSS1S=Yes"),
    ("diot", "VERB", "ARGABSSG=Yes|NOM(1,SG)=Yes|VerbForm=Fin"),
    ("huizen", "NOUN", "Case=Ine|Number=Plur"),
]


def forms_of(path: Path, language: str = "", folder: Path | None = None) -> FormIndex:
    forms = FormIndex(language, folder)
    forms.read_unimorph(path)
    forms.finish_entries()
    return forms


@pytest.mark.parametrize("name", ["nld", "nld.segmentations", "nld.xz"])
def test_tags_are_features_and_layered_ones_are_never_plain(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".xz"):
        path.write_bytes(lzma.compress(TABLE.encode()))
    elif name.endswith(".segmentations"):
        path.write_text("".join(f"{line.replace(';', '|')}\tlo|pen\n" for line in TABLE.splitlines() if line))
    else:
        path.write_text(TABLE)
    forms = forms_of(path)
    for form, upos, features in ENTRIES:
        (entry,) = forms.find_by_form(form)
        assert (entry.upos, entry.features, entry.source) == (upos, parse_features(features), "unimorph")
    assert len(forms.find_by_lemma("lopen")) == 4
    assert forms.unknown_tags == {"XYZ": 1, "QQQ": 1}
    assert forms.skipped_parts == {"ADJ": 1}


@pytest.mark.parametrize(
    ("message", "raw"),
    [
        ("line 2: 2 columns; expected lemma, form and tags", b"lopen\tloop\tV;SG\nlopen\tlopen\n"),
        ("line 2: byte 0xe9 is not UTF-8", "lopen\tloop\tV;SG\né\té\tV;SG\n".encode("latin-1")),
    ],
)
@pytest.mark.parametrize("suffix", ["", ".xz"])
def test_a_table_that_is_none_is_refused_in_a_line(tmp_path: Path, message: str, raw: bytes, suffix: str) -> None:
    path = tmp_path / f"nld{suffix}"
    path.write_bytes(lzma.compress(raw) if suffix else raw)
    with pytest.raises(study.DataError) as refused:
        forms_of(path)
    assert f"{path}, {message}" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_damaged_archive_is_refused_in_a_line(tmp_path: Path) -> None:
    for number, raw in enumerate((b"lopen", lzma.compress(TABLE.encode())[:-20])):
        path = tmp_path / f"nld.{number}.xz"
        path.write_bytes(raw)
        with pytest.raises(study.DataError, match="it is damaged: download it again"):
            forms_of(path)


def of_trees(*words: tuple[int, str, str, str]) -> set[tuple[str, str]]:
    """Return the forms and features that are entries when words are seen so often: count, form, lemma, features."""
    forms = FormIndex()
    for count, form, lemma, features in words:
        for _ in range(count):
            forms.add(form, lemma, "AUX", parse_features(features))
    forms.finish_entries()
    found = [entry for lemma in {word[2] for word in words} for entry in forms.find_by_lemma(lemma)]
    return {(e.form, "|".join(f"{k}={min(v)}" for k, v in sorted(e.features.items()))) for e in found}


def test_a_form_four_times_rarer_than_another_of_its_features_is_no_entry() -> None:
    assert of_trees((7, "Is", "zijn", "Number=Sing"), (2, "is", "zijn", "Number=Sing"), (3, "iz", "zijn", "Number=Sing")) == {
        ("is", "Number=Sing"), ("iz", "Number=Sing"),
    }  # fmt: skip
    assert of_trees((10, "is", "zijn", "Number=Sing"), (3, "iz", "zijn", "Number=Sing")) == {("is", "Number=Sing")}


def test_features_seen_once_beside_similar_ones_are_a_fault() -> None:
    fin = "Number=Sing|Tense=Pres|VerbForm=Fin"
    kept = {("is", fin)}
    assert of_trees((11, "is", "zijn", fin), (1, "is", "zijn", fin.replace("Sing", "Plur"))) == kept
    assert of_trees((10, "is", "zijn", fin), (1, "is", "zijn", fin.replace("Sing", "Plur"))) > kept  # not rare enough
    assert of_trees((22, "is", "zijn", fin), (2, "is", "zijn", fin.replace("Sing", "Plur"))) > kept  # seen twice
    assert of_trees((11, "is", "zijn", fin), (1, "is", "zijn", "VerbForm=Inf")) > kept  # three differ


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("lat", "Rēgīna", "regina"),
        ("slv", "člóvek", "Človek"),
        ("fas", "کِتاب", "کتاب"),
        ("hbo", "בָּרָ֣א", "בָּרָא"),
        ("uig", "كىتاب", "Kitab"),
        ("san", "गच्छति", "gacchati"),
        ("san", "रामः", "rāmaḥ"),
        ("tat", "Казан", "Qazan"),
        ("tur", "IŞIK", "ışık"),
        ("tur", "İYİ", "iyi"),
    ],
)
def test_words_are_compared_without_differences_of_writing(language: str, one: str, other: str) -> None:
    writing = Transliteration(language)
    assert writing.build_key(one) == writing.build_key(other)
    assert Transliteration("nld").build_key(one) != Transliteration("nld").build_key(other)


def test_small_letters_and_letters_with_other_marks_stay_apart() -> None:
    assert Transliteration("slv").build_key("žena") != Transliteration("slv").build_key("zena")
    assert Transliteration("tur").build_key("ılık") != Transliteration("tur").build_key("ilik")


def test_a_hand_patch_adds_and_removes_and_is_listed(tmp_path: Path) -> None:
    (tmp_path / "nld").write_text(TABLE)
    (tmp_path / "patches.toml").write_text(
        '[[nld.remove]]\nreason = "archaic"\nform = "lope"\n'
        '[[nld.add]]\nreason = "missing"\nlemma = "zijn"\ntags = "V;IND;PRS;PL"\nforms = ["zijn"]\n'
    )
    forms = forms_of(tmp_path / "nld", "nld", tmp_path)
    assert not forms.find_by_form("lope")
    assert [(e.lemma, e.source, e.features["Number"]) for e in forms.find_by_form("zijn")] == [("zijn", "patch", {"Plur"})]
    assert [patch["reason"] for patch in forms.applied_patches] == ["archaic", "missing"]
    assert not forms.find_by_form("hij")  # the user's table is in place of ours
    assert forms_of(tmp_path / "nld", "nld").find_by_form("hij")[0].features["Number"] == {"Sing"}


def test_coverage_counts_verbs_by_source(tmp_path: Path) -> None:
    (tmp_path / "nld").write_text(TABLE)
    forms = FormIndex("nld")
    forms.read_unimorph(tmp_path / "nld")
    for form, lemma in (("loop", "lopen"), ("is", "zijn")):
        forms.add(form, lemma, "VERB", parse_features("Number=Sing"))
    forms.finish_entries()
    assert forms.count_coverage(["lo_pen", "zijn", "huis"]) == {"unimorph": 1, "ud": 2, "none": 1}


def test_every_table_is_there_and_one_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    folder = Path(tables.__file__).parent
    assert sorted(path.stem for path in folder.glob("*.toml")) == sorted(tables.TABLE_NAMES)
    assert all(tables.read_table(name)[1] == "gardenpath" for name in tables.TABLE_NAMES)
    (tmp_path / "patches.toml").write_text("[nld\n")
    with pytest.raises(study.DataError, match=r"patches\.toml: not valid TOML"):
        tables.read_table("patches", tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("features", "[parts]\nV = 'VERB'\n", "has no 'tags'"),
        ("patches", "[[nld.add]]\nforms = ['hij']\n", r"nld\.add\[1\] has no 'tags'"),
        ("patches", "[[nld.add]]\ntags = 'PRO;SG'\nforms = 'hij'\n", r"forms is 'hij'; expected a list"),
        ("patches", "[[nld.add]]\ntags = 'PRO;NOPE'\nforms = ['hij']\n", "have NOPE, which features.toml does not know"),
        ("restrictions", "[nl.sv-number]\nTense = ['Pres']\n", "nl is not known; expected a code of ISO 639-3"),
        ("restrictions", "[nld.sv-numbr]\nTense = ['Pres']\n", "sv-numbr is not known; expected sv-number"),
        ("transliterations", "[nld]\nreplace = [['(', '']]\n", "missing \\), unterminated"),
        ("transliterations", "[nld]\nletters = { ij = 'y' }\n", "expected single letters"),
        ("treebanks", "skip = ['UD_Dutch-X']\n", "skip is .*; expected a table"),
        ("patch", "[nld]\n", "patch.toml is no table; expected features.toml"),
    ],
)
def test_a_table_of_the_users_that_is_no_such_table_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / f"{name}.toml").write_text(text)
    with pytest.raises(study.DataError, match=said):
        _ = [FormIndex("nld", tmp_path).finish_entries(), *(tables.read_table(one, tmp_path) for one in tables.TABLE_NAMES)]


def test_our_tables_have_the_shape_that_is_asked_of_others() -> None:
    folder = Path(tables.__file__).parent
    assert [tables.read_table(name, folder)[1] for name in tables.TABLE_NAMES] == [
        str(folder / f"{name}.toml") for name in tables.TABLE_NAMES
    ]


def test_an_empty_table_of_forms_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nld").touch()
    with pytest.raises(study.DataError, match="nld: the file is empty"):
        FormIndex("nld").read_unimorph(tmp_path / "nld")


def test_every_patch_has_a_reason_and_tags_that_are_known() -> None:
    for language in tables.read_table("patches")[0]:
        forms = FormIndex(language)
        forms.finish_entries()
        assert forms.applied_patches
        assert all(patch["reason"] for patch in forms.applied_patches)
        for patch in forms.applied_patches:
            assert all(forms.find_by_form(form)[0].features for form in patch.get("forms", ()))


@pytest.mark.data
def test_every_tag_of_the_real_table_is_known(real_data: Path) -> None:
    path = real_data / "unimorph" / "nld"
    forms = forms_of(path, "nld")
    rows = [line.split("\t")[2] for line in path.read_text("utf-8").splitlines() if line.strip()]
    assert not forms.unknown_tags
    assert forms.skipped_parts == Counter(tags.split(";")[0] for tags in rows if tags.startswith("ADJ"))
    lemmas = {line.split("\t")[0] for line in path.read_text("utf-8").splitlines() if line.strip()}
    kept = sum(1 for key in {lemma.lower() for lemma in lemmas} for e in forms.find_by_lemma(key) if e.source == "unimorph")
    assert kept == len(rows) - forms.skipped_parts.total()
