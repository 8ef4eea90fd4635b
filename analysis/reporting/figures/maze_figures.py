"""Figures of distractors for Maze: what they and the words beside them cost language models."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .figure_style import BLUE, DASHED, ORANGE, common_labels, filled, grid, panel, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"": "the model that chose", "held_out_": "held-out model"}


def distractor_figure(margins: pd.DataFrame, surprisal: float = 25.0, margin: float = 10.0) -> "Figure":
    """Return each distractor's surprisal against that of its word, a panel for each model of the table `distractor_margins`.

    The dashed lines are the bits demanded: `surprisal` at least, and `margin` more than the word. A table without models is a
    `DataError`.

    >>> rows = {"word_surprisal": [8.0, 3.0], "surprisal": [31.0, 27.0], "held_out_surprisal": None}
    >>> figure = distractor_figure(pd.DataFrame(rows).assign(held_out_word_surprisal=None))
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['the model that chose']
    """
    models = {
        title: margins[[f"{name}word_surprisal", f"{name}surprisal"]].dropna().astype(float).to_numpy()
        for name, title in TITLES.items()
    }
    models = {title: points for title, points in models.items() if len(points)}
    if not models:
        filled(margins.head(0), "distractor_margins")
    right, top = (1.05 * max(points[:, k].max() for points in models.values()) for k in (0, 1))
    with style():
        figure, panels = grid(len(models), 3.0)
        for axes, (title, points) in zip(panels, models.items(), strict=False):
            word, distractor = points.T
            short = distractor < np.maximum(surprisal, word + margin)
            for which, color in ((~short, BLUE), (short, ORANGE)):
                axes.plot(word[which], distractor[which], "o", color=color, alpha=0.5, markersize=4, markeredgewidth=0)
            line = np.array([0.0, max(0.0, surprisal - margin), right])
            axes.plot(line, np.maximum(surprisal, line + margin), **DASHED)
            axes.set_xlim(0, right)
            axes.set_ylim(0, top)
            panel(axes, title)
        common_labels(figure, "surprisal of the word (bits)", "of its distractor (bits)")
    return figure
