"""A picture of a report."""

import base64
import io
import warnings
from dataclasses import dataclass
from typing import Any

from langdiff.base.cells import drop_controls


@dataclass(frozen=True)
class Figure:
    """A picture with its caption, and the part of the page that shows it.

    Attributes
    ----------
    name, caption : str
        Name of the file, and what is seen.
    svg : bytes
        The picture; its text is text, written in the fonts of who reads it.
    part : {"difficulties", "ranks", "agreement", "curve", "residuals", "training"} or section of the experiment
        Part of the page.
    """

    name: str
    caption: str
    svg: bytes
    part: str

    @property
    def uri(self) -> str:
        """The picture as a ``data:`` address; as an image it cannot run scripts."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode()


def draw(name: str, caption: str, part: str, plot: Any, rows: int = 16, columns: int = 1) -> Figure:
    """Draw a picture on axes of its own.

    Parameters
    ----------
    name, caption, part : str
        As for `Figure`.
    plot : callable
        Function that draws on the axes.
    rows, columns : int
        Number of rows that the picture must have room for, and of axes side by side.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure as Canvas

    # The same run gives the same bytes: fixed ids, no date. Text stays text, so that the reader's fonts show every
    # script, and dollar signs in names are dollar signs.
    settings: Any = {"svg.hashsalt": name, "svg.fonttype": "none", "text.parse_math": False}
    with mpl.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from|no installed font has", UserWarning)
        figure = Canvas(figsize=(7.0, max(2.4, 1.2 + 0.26 * rows)), layout="constrained")
        FigureCanvasSVG(figure)
        plot(figure.subplots(ncols=columns))
        stream = io.BytesIO()
        figure.savefig(stream, format="svg", metadata={"Date": None})
    svg = drop_controls(stream.getvalue().decode())  # of which XML has none
    return Figure(name, caption, svg.encode(), part)
