"""A study for other platforms: each is a module with NAME, loses and write, listed here in one tuple."""

from .places import Place, places

__all__ = ["Place", "places"]
