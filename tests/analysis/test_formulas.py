"""Formulas: what lme4 would read is what is read here."""

import pytest

from gardenpath.analysis.engines.formulas import RandomEffects, parse_formula


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("y ~ x + (1|p) + (1|i)", "y ~ x + (1|p) + (1|i)"),
        ("y~1+(1|p)", "y ~ 1 + (1|p)"),
        ("y ~ 0 + x + (1 | p)", "y ~ 0 + x + (1|p)"),
        ("y ~ x - 1 + (1|p)", "y ~ 0 + x + (1|p)"),
        ("y ~ a*b*c + (1|p)", "y ~ a + b + c + a:b + a:c + b:c + a:b:c + (1|p)"),
        ("y ~ a + (a|p) + (0 + a|i)", "y ~ a + (1 + a|p) + (0 + a|i)"),
        ("y ~ a + (1 + a*b || p)", "y ~ a + (1 + a + b + a:b||p)"),
        ("y ~ x + (1|school/class/pupil)", "y ~ x + (1|school) + (1|class:school) + (1|pupil:class:school)"),
    ],
)
def test_a_formula_is_taken_apart_as_lme4_does(text: str, plain: str) -> None:
    assert parse_formula(text).format_expanded() == plain
    assert parse_formula(plain).format_expanded() == plain
    assert str(parse_formula(text)) == text


def test_names_and_groups_are_the_columns() -> None:
    formula = parse_formula("rt ~ a:b + (1 + a|p) + (1|class/pupil)")
    assert formula.column_names == ["rt", "a", "b", "p", "class", "pupil"]
    assert formula.group_columns == {"p", "class", "pupil"}


def test_other_random_effects_make_another_text() -> None:
    formula = parse_formula("y ~ x*z + (1 + x|p)")
    assert str(formula.replace_random(formula.random)) == "y ~ x*z + (1 + x|p)"
    assert str(formula.replace_random([RandomEffects(("1", "x"), "p", False)])) == "y ~ x + z + x:z + (1 + x||p)"
    assert str(formula.replace_random([RandomEffects(("x",), "p", False)])) == "y ~ x + z + x:z + (0 + x|p)"


@pytest.mark.parametrize("text", ["y", "~ x", "y ~", "y ~ x + (1|p", "y ~ x - z + (1|p)", "y ~ (a+b)^2", "log(y) ~ x"])
def test_what_is_no_formula_is_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="formula") as raised:
        parse_formula(text)
    assert "\n" not in str(raised.value)
