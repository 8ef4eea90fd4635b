"""Public names: what comes back is said, and shown where that needs no network, browser or window."""

import doctest
import importlib

import pytest

# Their examples would need a server or a browser, or are those of the commands of a platform.
NOT_SHOWN = {"Event", "HttpTransport", "export", "find_chromium", "run_session_in_browser"}


@pytest.mark.parametrize("package", ["study", "stimuli", "experiment", "lmscore", "analysis"])
def test_every_public_callable_has_an_example(package: str) -> None:
    """In its own docstring or in a method's; that the examples run is tested with their modules."""
    module = importlib.import_module(f"gardenpath.{package}")
    public = {name: getattr(module, name) for name in module.__all__}
    finder = doctest.DocTestFinder(exclude_empty=True)
    without = {
        name
        for name, thing in public.items()
        if callable(thing) and not any(test.examples for test in finder.find(thing, name, module=False))
    }
    assert without <= NOT_SHOWN
