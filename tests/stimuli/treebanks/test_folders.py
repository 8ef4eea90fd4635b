"""Which files belong to a language: treebanks unpacked or side by side, licences, what the user's table says, tables of forms."""

from pathlib import Path

import pytest

from gardenpath.stimuli.treebanks import treebank_folders


def put(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_treebank_is_a_folder_or_files_of_one_beginning(tmp_path: Path) -> None:
    put(tmp_path / "UD_Dutch-Alpino" / "README.md", "# Summary\n=== Machine-readable ===\nLicense: CC BY-SA 4.0 \nGenre: news\n")
    alpino = [put(tmp_path / "UD_Dutch-Alpino" / f"nl_alpino-ud-{part}.conllu") for part in ("dev", "test", "train")]
    flat = [put(tmp_path / f"grc_perseus-ud-{part}.conllu") for part in ("dev", "test")]
    put(tmp_path / "no_nynorsk-ud-test.conllu")
    put(tmp_path / "mine.conllu")
    found = {one.name: one for one in treebank_folders.find_treebanks(tmp_path)}
    assert found["UD_Dutch-Alpino"] == ("UD_Dutch-Alpino", "nld", tuple(alpino), "CC BY-SA 4.0", "")
    assert found["grc_perseus"] == ("grc_perseus", "grc", tuple(flat), None, "")
    assert found["no_nynorsk"].language == "nno"
    assert found["mine"].skip_reason.startswith("language unknown")
    assert treebank_folders.list_languages(tmp_path) == ["grc", "nld", "nno"]


def test_the_users_table_says_language_licence_and_what_is_skipped(tmp_path: Path) -> None:
    for name in ("mine", "de_gsd-ud-test", "nl_x-ud-test"):
        put(tmp_path / "ud" / f"{name}.conllu")
    put(tmp_path / "own" / "treebanks.toml", '[skip]\nde_gsd = "spelling"\n[licence]\nmine = "CC0 1.0"\n[language]\nmine = "nds"\n')
    found = treebank_folders.find_treebanks(tmp_path / "ud", tmp_path / "own")
    assert [(one.name, one.language, one.licence, one.skip_reason) for one in found] == [
        ("de_gsd", "deu", None, "spelling"), ("mine", "nds", "CC0 1.0", ""), ("nl_x", "nld", None, ""),
    ]  # fmt: skip
    assert treebank_folders.list_languages(tmp_path / "ud", tmp_path / "own") == ["nds", "nld"]


@pytest.mark.parametrize(
    ("files", "taken"),
    [
        (["nld"], ["nld"]),
        (["nld/nld", "nld/nld.segmentations", "nld/nld.derivations", "nld/README.md"], ["nld/nld"]),
        (["nld/nld.xz"], ["nld/nld.xz"]),
        (["nld/nld", "nld/nld.xz"], ["nld/nld"]),
        (["nld/nld.1", "nld/nld.2.xz"], ["nld/nld.1", "nld/nld.2.xz"]),
        (["nld/nld.segmentations"], ["nld/nld.segmentations"]),
        (["nldx", "deu"], []),
    ],
)
def test_the_table_of_forms_of_a_language(tmp_path: Path, files: list[str], taken: list[str]) -> None:
    for name in files:
        put(tmp_path / name)
    assert treebank_folders.find_unimorph_files(tmp_path, "nld") == tuple(tmp_path / name for name in taken)


def test_a_language_may_have_its_forms_under_another_code(tmp_path: Path) -> None:
    put(tmp_path / "um" / "hbs" / "hbs")
    put(tmp_path / "own" / "treebanks.toml", '[unimorph]\nhrv = "hbs"\n')
    assert treebank_folders.find_unimorph_files(tmp_path / "um", "hrv", tmp_path / "own") == (tmp_path / "um" / "hbs" / "hbs",)
