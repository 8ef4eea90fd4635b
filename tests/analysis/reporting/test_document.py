"""The report: self-contained, the same bytes each time, and plain about what is simulated, absent or not fitted."""

import html
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from gardenpath import experiment
from gardenpath.analysis import AlignmentOptions, align, compute_accuracy, report
from gardenpath.analysis.reporting.document import whole
from gardenpath.analysis.reporting.exhibits import Page
from gardenpath.study import TABLES, DataError, check

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def everything(tables: Tables, analysed: Tables, aligned_whole: Tables) -> Tables:
    return tables | analysed | aligned_whole | {"accuracy": compute_accuracy(tables["pairs"])}


@pytest.fixture(scope="module")
def page(everything: Tables) -> str:
    return report(everything, title="Reading & rating", facts={"seed": "11"}, absent=["scores/sentence_scores.csv"])


class Balance(HTMLParser):
    """Collects tags left open, and every address a browser would load by itself."""

    VOID = ("meta", "br", "link", "img")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        if tag in ("script", "link", "img", "iframe"):
            self.loaded += [str(value) for name, value in attributes if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_one_balanced_document_that_loads_nothing(page: str) -> None:
    parser = Balance()
    parser.feed(page)
    assert parser.open == []
    assert parser.loaded == []
    assert "@import" not in page
    assert "<script" not in page


def test_the_same_tables_give_the_same_bytes(everything: Tables, page: str) -> None:
    again = report(everything, title="Reading & rating", facts={"seed": "11"}, absent=["scores/sentence_scores.csv"])
    assert again == page


def test_it_fits_a_phone_and_tables_scroll_in_their_own_box(page: str) -> None:
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in page
    assert page.count("<table>") == page.count('<div class="scroll"')


def test_each_figure_and_table_names_its_file(page: str) -> None:
    figures = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    assert len(figures) > 10
    assert all(re.search(r'Numbers: <a href="\w+\.csv">', figure) for figure in figures)


def test_no_id_is_there_twice(page: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_text_from_data_cannot_become_markup(everything: Tables) -> None:
    evil = everything | {"items": everything["items"].replace({"phenomenon": {"islands": "<script>alert(1)</script>"}})}
    evil["condition_means"] = evil["condition_means"].replace({"phenomenon": {"islands": "<b id=x>"}})
    page = report(evil, title="<i>title</i>", facts={"<u>": "</style>"})
    assert "<script>" not in page
    assert "<b id" not in page
    assert html.escape("<i>title</i>") in page


def test_what_is_simulated_or_a_toy_is_marked_once_over_all_numbers_of_it(page: str, everything: Tables) -> None:
    sections = re.findall(r'<section id="(?:part|appendix)-.*?</section>', page, re.DOTALL)
    assert len(sections) > 8
    for section in sections:
        heading, _, rest = section.partition("</h2>")
        for figure in re.findall(r"<figure.*?</figure>", rest, re.DOTALL):
            file = re.search(r'href="(\w+)\.csv"', figure)
            assert file is not None
            by_a_model = "protocol" in everything[file[1]] or file[1] == "delta_comparisons"
            for badge, marked in (("simulated data", file[1] not in ("items", "accuracy")), ("toy language model", by_a_model)):
                badges = (heading.count(f'<span class="badge">{badge}</span>'), figure.count(f'<span class="badge">{badge}</span>'))
                assert badges in ([(1, 0), (0, 1)] if marked else [(0, 0), (1, 0)]), (file[1], badge)


def test_the_hypothesis_comes_first_and_agreement_in_the_appendix(page: str) -> None:
    titles = [title.strip() for title in re.findall(r"<h2>([^<]*)", page)]
    assert titles[:5] == [
        "What was tested, and what came out", "Participants and materials", "Exclusions", "Ratings", "Reading times",
    ]  # fmt: skip
    assert titles.index("Methods, ready to paste") < titles.index("Appendix 1. How far the results can be trusted")
    assert titles.index("Appendix 2. Agreement among people") < titles.index("All tables")
    lead = page[page.index("<h2>What was tested") : page.index("<h2>Participants")]
    assert "We tested the effect of grammaticality (grammatical − ungrammatical) in 3 phenomena on ratings and" in lead
    assert "differ between grammatical and ungrammatical sentences in" in lead


def test_every_table_from_people_is_marked_whatever_it_is_called(everything: Tables) -> None:
    """What surprisal does to simulated reading times is a finding about robots too."""
    of_sentences = {"items", "words", "surprisal", "pairs", "accuracy"}
    assert {"lag_profile", "held_out_clusters", "delta_log_likelihood"} <= set(everything)
    unmarked = {name for name in everything if "simulated data" not in Page(everything).badges(name)}
    assert unmarked == of_sentences


def test_what_a_bit_cost_simulated_readers_stands_beside_the_estimate(page: str, everything: Tables) -> None:
    [whose] = everything["surprisal_effects"][["model", "protocol"]].drop_duplicates().itertuples(index=False, name=None)
    told = report(everything, title="t", ms_per_bit={whose: (5.0,)})
    assert "Simulated: 5 ms per bit of little-lm (toy) (causal), for the word read." in told
    assert "Dashed: the 5 ms per bit that were simulated" in told
    assert "A bar without an interval is what was simulated" in told
    assert not re.search("Simulated: |that were simulated|what was simulated", page)


def test_real_readers_and_a_real_model_carry_no_mark(everything: Tables) -> None:
    real = {name: frame.replace({"little-lm (toy)": "gpt2"}) for name, frame in everything.items()}
    real["sessions"] = real["sessions"].assign(source="server")
    assert '<span class="badge">' not in report(real, title="t")


def test_a_real_model_beside_a_toy_carries_no_mark_in_its_own_figure(everything: Tables) -> None:
    table = everything["accuracy"]
    page = report({"accuracy": pd.concat([table, table.assign(model="gpt2")])}, title="t")
    figures = re.findall(r"<figure>.*?</figure>", page, re.DOTALL)
    own = [figure for figure in figures if "share of pairs won on each paradigm" in figure]
    assert ["toy language model</span>" in figure for figure in own] == [True, False]
    assert '<h2>Language models on minimal pairs <span class="badge">a toy language model among them</span></h2>' in page
    assert not any("a toy language model among them" in figure for figure in figures)


def test_a_table_of_one_model_names_it_once_and_one_of_two_in_each_row(everything: Tables) -> None:
    table = everything["accuracy"]
    one, two = (report({"accuracy": t}, title="t") for t in (table, pd.concat([table, table.assign(model="gpt2")])))
    last = [re.findall(r"<figure>.*?</figure>", page, re.DOTALL)[-1] for page in (one, two)]
    assert ['<th scope="col" class="text">model</th>' in figure for figure in last] == [False, True]
    assert "over all (little-lm (toy), causal" in last[0]


def test_robots_among_readers_are_counted(everything: Tables) -> None:
    mixed = everything["sessions"].copy()
    mixed["source"] = ["robot", *["server"] * (len(mixed) - 1)]
    assert "1 of 24 sessions simulated" in report(everything | {"sessions": mixed}, title="t")
    people = set(everything["participants"]["participant"])
    mixed["source"] = ["model" if one == min(people) else "server" for one in mixed["participant"]]
    said = f"1 of {len(people)} sessions by language models"
    assert said in report(everything | {"sessions": mixed}, title="t")
    of_models = Page(everything | {"sessions": mixed.assign(source="model")})
    assert of_models.badges("rating_scores") == ("answers of language models",)


def test_results_without_their_sessions_are_marked_as_of_unknown_source(everything: Tables) -> None:
    page = report({"condition_means": everything["condition_means"]}, title="t")
    assert "source of the data unknown" in page


def test_singular_fits_are_explained_and_exclusions_counted(page: str) -> None:
    assert "Singular fit: the variance of the intercepts by participant is estimated as zero" in page
    assert "We excluded 1 of 24 sessions (4.2%): session not complete." in page
    assert "We excluded 1 of 529 critical regions (0.2%)" in page


def test_statistics_are_set_in_text_headings_and_methods(page: str) -> None:
    assert "<i>p</i><sub>BH</sub></th>" in page
    methods = page[page.index('<section id="methods">') : page.index("<h3>References</h3>")]
    assert re.search("<i>p</i>\u00a0&lt;\u00a0", methods)
    assert "on the way to <code>aligned</code>" in page


@pytest.fixture
def shown(tmp_path: Path) -> Iterator[Callable[[str], Any]]:
    """Show a page in a window as wide as a phone."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if (chromium := experiment.find_chromium()) is None:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=chromium)
        window = browser.new_page(viewport={"width": 390, "height": 800})

        def show(page: str) -> Any:
            (tmp_path / "report.html").write_text(page, "utf-8")
            window.goto((tmp_path / "report.html").as_uri())
            return window

        yield show
        browser.close()


@pytest.mark.browser
def test_nothing_makes_the_page_wider_than_a_phone(everything: Tables, shown: Callable[[str], Any]) -> None:
    models = everything["models"].assign(note=f"Singular: the term {'grammaticality_by_' * 9} has no variance.")
    window = shown(report(everything | {"models": models}, title="t"))
    window.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert window.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.browser
def test_on_paper_captions_stand_beside_drawings_and_what_is_folded_is_left_out(page: str, shown: Callable[[str], Any]) -> None:
    window = shown(page)
    window.set_viewport_size({"width": 700, "height": 1000})  # A4 without its margins
    window.emulate_media(media="print")
    boxes = [window.locator(f"figure:has(> .drawing) > {one}").first.bounding_box() for one in (".drawing", "figcaption")]
    drawing, caption = boxes
    assert drawing["x"] + drawing["width"] < caption["x"]
    assert caption["y"] < drawing["y"] + drawing["height"]
    assert window.locator("section h2:visible").count() == window.locator("section h2").count() - 2  # code, all tables
    assert window.locator("details:visible").count() == 0
    window.evaluate("document.querySelector('#tables details').open = true")
    assert window.locator("#tables h2").is_visible()
    assert window.locator("details:visible").count() == 1


def test_a_phenomenon_without_a_fit_says_so(everything: Tables) -> None:
    effects, models = everything["effects"].copy(), everything["models"].copy()
    islands = effects["model"] == "islands"
    effects.loc[islands, ["estimate", "se", "df", "t", "p", "p_adjusted"]] = float("nan")
    models.loc[models["model_id"].isin(effects.loc[islands, "model_id"]), "note"] = "Not fitted: there is only one item (i1)."
    page = report(everything | {"effects": effects, "models": models}, title="t")
    assert "islands: Not fitted: there is only one item (i1)." in page


def test_many_phenomena_are_read_one_by_one_below_the_figures(everything: Tables) -> None:
    rows = everything["effects"].query("unit == 'phenomenon' and response == 'z' and model == 'islands'")
    many = pd.concat([rows.assign(model=f"phenomenon {k}") for k in range(12)])
    page = report({"effects": many, "models": everything["models"]}, title="t")
    assert page.index("in 12 of 12 phenomena") < page.index("<svg") < page.index("phenomenon 11: grammatical sentences")
    assert "12 more sentences to paste" in page


def test_practice_is_neither_counted_as_material_nor_as_left_out(everything: Tables) -> None:
    practice = everything["items"].head(2).assign(item="p", paradigm="practice", phenomenon="practice", condition=["a", "b"])
    trial = everything["responses"].query("role == 'practice'").head(1).assign(paradigm="practice", item="p", condition="a")
    more = {"items": pd.concat([everything["items"], practice]), "responses": pd.concat([everything["responses"], trial])}
    page = report(everything | more, title="t")
    assert "48 sentences, 24 items in 3 paradigms of 3 phenomena" in page
    assert "Not in these models" not in page


def test_paradigms_with_other_conditions_are_said_to_be_out(everything: Tables) -> None:
    factorial = {"grammatical": "subject", "ungrammatical": "object"}
    items = everything["items"].copy()
    islands = items["paradigm"] == "islands 1"
    items.loc[islands, "condition"] = items.loc[islands, "condition"].replace(factorial)
    page = report(everything | {"items": items}, title="t")
    assert "having other conditions than grammatical and ungrammatical: islands 1." in page


def test_long_tables_show_their_head_and_their_count(page: str, everything: Tables) -> None:
    assert f"First 5 of {len(everything['readings'])} rows." in page


def test_what_is_absent_is_listed_and_its_section_left_out(everything: Tables) -> None:
    page = report({"exclusions": everything["exclusions"]}, title="t", absent=["results/pairs.csv"])
    assert "<li>results/pairs.csv</li>" in page
    assert "Language models on minimal pairs" not in page


def test_the_gate_comes_before_the_models_it_guards_and_gains_come_after(page: str) -> None:
    order = ["Do reading times stand beside the right words?", "Reading times and surprisal", "Held-out reading times"]
    places = [page.index(f"<h2>{title}") for title in order]
    assert places == sorted(places)
    assert "passed the alignment self-test" in page[places[0] : places[1]]
    assert "smallest possible" in page[places[2] :]


def test_data_that_are_not_there_have_a_line_each(everything: Tables) -> None:
    bare = {name: everything[name] for name in ("items", "sessions", "responses")}
    page = report(bare | {"readings": everything["readings"].head(0)}, title="t", absent=["scores of language models"])
    assert re.findall(r"<li>(scores[^<]*|reading times: [^<]*)</li>", page) == [
        "scores of language models",
        "reading times: nobody read word by word in this study",
    ]


def test_code_and_figures_of_the_page_are_given_as_files_too(everything: Tables) -> None:
    made = whole(everything, title="t", files={name: f"results/{name}.csv" for name in everything})
    line = "results/effects.csv"
    assert line in made.code
    assert line in made.html[made.html.index("Rscript") :]
    assert {"lag-profile", "gains", "costs", "accuracy-0"} <= set(made.figures)


def test_a_chosen_model_stands_beside_the_declared_one_with_its_steps(tables: Tables, analysed_maximally: Tables) -> None:
    page = report(tables | analysed_maximally, title="t")
    assert "Random effects by the policy maximal: " in page
    assert page.index("<h2>Ratings") < page.index("Every fit on the way to these models") < page.index("<h2>Reading times")
    assert "kept: it converged and is not singular" in page


def test_every_table_may_stand_alone(everything: Tables) -> None:
    for name, frame in everything.items():
        assert f"{name}.csv" in report({name: frame}, title="t")


def test_empty_tables_make_no_figures_and_no_error(everything: Tables) -> None:
    assert "<svg" not in report({name: frame.head(0) for name, frame in everything.items()}, title="t")


def test_nothing_to_report_and_unknown_tables_are_sentences() -> None:
    with pytest.raises(DataError, match="no table to report"):
        report({}, title="t")
    with pytest.raises(ValueError, match="table raitings is not known"):
        report({"raitings": pd.DataFrame()}, title="t")


def test_models_made_by_hand_and_written_to_the_results_stand_in_their_sections(everything: Tables) -> None:
    fitted = {
        "formula": "y ~ kind + (1|participant)",
        "estimate": 0.5,
        "se": 0.1,
        "p": 0.001,
        "ci_low": 0.3,
        "ci_high": 0.7,
        "n": 90,
    }
    tables = {
        "gam_terms": fitted | {"term": "s(surprisal)", "smooth": True, "edf": 1.1, "statistic": 8.0, "deviance": 0.2, "rho": 0.2,
                               "autocorrelation": 0.01, "estimate": None, "se": None},
        "marginal_contrasts": fitted | {"factor": "kind", "within": "size big", "contrast": "a - b", "df": 40.0, "t": 5.0,
                                        "adjustment": "holm"},
        "power": {"response": "log_rt", "term": "number:attractor", "effect": 0.05, "n_participants": 40, "n_items": 24,
                  "family": "linear", "slopes": "tested", "assumptions": "default", "formula": "y ~ 1", "n_simulations": 200,
                  "power": 0.9, "power_low": 0.85, "power_high": 0.94, "false_positives": 0.05, "se": 0.01, "share_singular": 0.2,
                  "share_failed": 0.0},
    }  # fmt: skip
    more = {name: check(pd.DataFrame([row]).reindex(columns=TABLES[name].column_names), name) for name, row in tables.items()}
    rated = everything["effects"].query("unit == 'phenomenon' and response == 'z' and random == 'slopes'")
    categories = rated.assign(model_id=rated["model_id"] + ", cumulative", response="rating", family="cumulative", headline=False)
    fits = everything["models"].query("kept").assign(model_id=everything["models"]["model_id"] + ", cumulative")
    more |= {"effects": pd.concat([everything["effects"], categories]), "models": pd.concat([everything["models"], fits])}
    made = whole(everything | more, title="t")
    page = made.html
    assert page.index("<h2>Ratings") < page.index("as ordered categories (probit)") < page.index("<h2>Reading times")
    assert page.index("<h2>Appendix 1. Models of the study&#39;s factors") < page.index("kind, a − b at size big: ")
    assert page.index("How far the results can be trusted<") < page.index("is found by 40 participants with 24 items")
    assert page.index("<h2>Reading times and surprisal") < page.index("s(surprisal): about a straight line")
    assert "power" in made.figures
    assert "Ratings were modelled as ordered categories too" in page
    assert "mgcv&#39;s bam in R" in page


def test_conditions_of_another_design_have_no_word_on_grammaticality_in_their_captions(everything: Tables) -> None:
    factorial = {"grammatical": "object relative clause", "ungrammatical": "subject relative clause"}
    other = {name: everything[name].replace({"condition": factorial}) for name in ("condition_means", "reading_curves")}
    assert "grammatical sentences rated higher" in report(everything, title="t")
    page = report(other, title="t")
    assert "Mean rating by phenomenon and condition" in page
    assert "grammatical sentences rated higher" not in page
    assert "what is ungrammatical slows" not in page


def test_a_failed_gate_is_a_warning_at_the_top_and_its_model_has_no_drawing(tables: Tables) -> None:
    shifted = tables["readings"].sort_values(["session", "trial", "word"])
    shifted["rt"] = shifted.groupby(["session", "trial"])["rt"].shift(-1)
    found = align(tables | {"readings": shifted}, AlignmentOptions(lags=1, folds=2))
    page = report(tables | found, title="t")
    top = page[: page.index("<main>")]
    assert '<span class="badge">alignment self-test failed</span>' in top
    assert "find out why before reading on" in top
    assert "FAILED the alignment self-test" in page
    assert "mean reading time of each word against its surprisal" not in page
    assert "Not fitted: the alignment self-test failed." in page
