"""A page on parity: tables and pictures in one file that works offline, with all text escaped."""

import base64
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from langdiff.base.cells import drop_controls
from langdiff.base.io import write_text
from langdiff.parity.result import Parity
from langdiff.regression import DifficultyFit
from langdiff.run.html_tables import tables_of_analysis
from langdiff.run.page import render_page


def write_parity_report(parity: Parity, path: Path, *, fit: DifficultyFit | None = None) -> Path:
    """Write a page with difficulties, measures of parity and a picture of each.

    Parameters
    ----------
    parity : Parity
        Result of `langdiff.measure_parity`.
    path : Path
        File to write.
    fit : DifficultyFit, optional
        Difficulties of the same editions.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    shown = [name for name in parity.estimates if name in parity.low or parity.low.empty]
    pictures = {} if fit is None else {"difficulties": _picture(fit.plot)}
    pictures |= {
        str(name).replace("_", " "): _picture(partial(parity.plot, str(name)))
        for name in shown
        if parity.estimates[name].notna().any()
    }
    columns = ["percent", "percent_std_error", "rank"]
    text = render_page(
        "parity.html",
        parity=parity,
        fit=fit,
        words="" if fit is None else f"model {fit.model}, errors from {fit.errors.words}",
        difficulties=[] if fit is None else tables_of_analysis("difficulties", fit.to_frame()[columns].reset_index()),
        measures=tables_of_analysis("measures", parity.to_frame().rename_axis("edition").reset_index()),
        pictures=pictures,
    )
    write_text(path, text)
    return path


def _picture(draw: Callable[[], Axes]) -> str:
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with mpl.rc_context({"svg.hashsalt": "langdiff"}):
        figure: Any = draw().get_figure(root=True)
        stream = io.BytesIO()
        try:
            figure.savefig(stream, format="svg", metadata={"Date": None})
        finally:
            plt.close(figure)
    return "data:image/svg+xml;base64," + base64.b64encode(drop_controls(stream.getvalue().decode()).encode()).decode()
