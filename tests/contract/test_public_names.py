"""Public names: what comes back is said, and shown where that needs no network, browser or window."""

import importlib

import pytest

# Their examples would need a server or a browser, or are those of the commands of a platform.
NOT_SHOWN = {"Event", "HttpTransport", "export", "find_chromium", "take_in_browser"}


@pytest.mark.parametrize("package", ["study", "experiment", "lmscore"])
def test_every_public_callable_has_an_example(package: str) -> None:
    module = importlib.import_module(f"gardenpath.{package}")
    public = {name: getattr(module, name) for name in module.__all__}
    without = {name for name, one in public.items() if callable(one) and ">>>" not in (one.__doc__ or "")}
    assert without <= NOT_SHOWN
