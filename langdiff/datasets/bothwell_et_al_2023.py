"""Published scores and settings of the parallelism taggers of Bothwell et al. (2023)."""

from dataclasses import dataclass

import pandas as pd

from langdiff.base.grids import frame_text
from langdiff.base.result import Result
from langdiff.datasets.published_figures import read_shipped
from langdiff.errors import ConfigError

MODELS = {  # embedding and encoder
    "learned-word": ("learned-word", "bilstm"),
    "word2vec": ("word2vec", "bilstm"),
    "learned-subword": ("learned-subword", "transformer"),
    "latin-bert": ("bert", "none"),
    "latin-bert-bilstm": ("bert", "bilstm"),
    "latin-bert-transformer": ("bert", "transformer"),
    "chinese-bert": ("bert", "none"),
    "chinese-bert-bilstm": ("bert", "bilstm"),
    "chinese-bert-transformer": ("bert", "transformer"),
}
METRICS = ("EPM", "MPBM", "MBAWO", "MWO")
_KEYS = ["corpus", "model", "scheme"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Bothwell2023(Result):
    """Figures of "Introducing Rhetorical Parallelism Detection" (EMNLP 2023).

    Of every model and tagging scheme there is one row per metric: that of the best of eight trials with random
    settings, by MBAWO on the optimization part. The texts are not shipped.

    Attributes
    ----------
    scores : DataFrame
        One row per corpus (``ASP``, ``PSE-I``), ``model``, ``scheme`` and ``metric`` (EPM, MPBM, MBAWO, MWO):
        ``precision``, ``recall`` and ``f1`` on the test part; ``embedding``, ``encoder``, ``tagset`` and ``link``.
    settings : DataFrame
        One row per corpus, model and scheme, with the same keys: ``table`` of the paper, ``activation``, ``blending``,
        ``depth``, ``heads``, ``hidden_size`` (of a BiLSTM both directions together, of a Transformer the width of its
        feed-forward layer), ``input_size``, ``lemmatized``, ``learning_rate``; missing where the model has no such
        setting or the paper does not print it.

    Notes
    -----
    Figures only, which are facts; cite the paper. The scores are those of the authors' results (Mythologos/Intro-RPD,
    which states no licence), rounded to six decimals; the settings are those of the paper's Tables 14 to 18. Latin BERT
    with a Transformer has the same settings for BIOM-TD and BIOM-BD, though the scores differ: one may be a misprint.

    Examples
    --------
    >>> figures = bothwell2023()
    >>> figures
    Bothwell2023: 576 scores and 144 settings of 9 models under 16 tagging schemes
    >>> figures.setting("ASP/learned-word/BIO-TD").dropna().to_dict()["hidden_size"]
    384
    """

    scores: pd.DataFrame
    settings: pd.DataFrame

    def setting(self, key: str) -> pd.Series:
        """Return the best setting of a model under a tagging scheme.

        Parameters
        ----------
        key : str
            Corpus, model and scheme, such as ``"ASP/learned-word/BIO-TD"``.

        Returns
        -------
        Series
            The row of `settings`.

        Raises
        ------
        ConfigError
            If there is none.
        """
        keys = self.settings["corpus"] + "/" + self.settings["model"] + "/" + self.settings["scheme"]
        found = self.settings[keys == key]
        if found.empty:
            known = ", ".join(dict.fromkeys(keys.str.rpartition("/")[0]))
            raise ConfigError(f"no published setting {key!r}; there are {known}, each with a scheme such as BIO-TD.")
        return found.iloc[0]

    def table(self, corpus: str, metric: str = "EPM") -> pd.DataFrame:
        """Return F1 on the test part: one row per model, one column per tagging scheme.

        Parameters
        ----------
        corpus : {"ASP", "PSE-I"}
            Corpus: Latin sermons (ASP) or Chinese student essays (PSE-I).
        metric : {"EPM", "MPBM", "MBAWO", "MWO"}
            Metric whose F1 is wanted; exact match (EPM) is the strictest.

        Returns
        -------
        DataFrame
            Table that `langdiff.parallelism.compare_treatments` takes.

        Raises
        ------
        ConfigError
            If corpus or metric is unknown.
        """
        rows = self.scores[(self.scores["corpus"] == corpus) & (self.scores["metric"] == metric)]
        if rows.empty:
            raise ConfigError(f"corpora are ASP and PSE-I, metrics {', '.join(METRICS)}; got {corpus!r}, {metric!r}.")
        table = rows.pivot_table(index="model", columns="scheme", values="f1", sort=False)
        table.columns.name = None
        return table

    def best(self, metric: str = "EPM") -> pd.DataFrame:
        """Return the best scheme of every model, and mean and standard deviation of F1 over the schemes.

        Parameters
        ----------
        metric : {"EPM", "MPBM", "MBAWO", "MWO"}
            Metric whose F1 is wanted; exact match (EPM) is the strictest.

        Returns
        -------
        DataFrame
            One row per corpus and model: ``scheme``, ``precision``, ``recall``, ``f1``, ``mean``, ``std``.

        Raises
        ------
        ConfigError
            If the metric is unknown.
        """
        if metric not in METRICS:
            raise ConfigError(f"metrics are {', '.join(METRICS)}; got {metric!r}.")
        rows = self.scores[self.scores["metric"] == metric].reset_index(drop=True)
        groups = rows.groupby(["corpus", "model"], sort=False)["f1"]
        best = rows.loc[groups.idxmax(), [*_KEYS, "precision", "recall", "f1"]]
        spread = groups.agg(["mean", "std"]).reset_index()
        return best.merge(spread, on=["corpus", "model"])

    def to_frame(self) -> pd.DataFrame:
        """Return the scores, each with its settings."""
        return self.scores.merge(self.settings, on=_KEYS, validate="many_to_one")

    def summary(self) -> str:
        """Format the best scheme of every model."""
        table = frame_text(self.best().round(4), index=False)
        return f"Published F1 (EPM) on the test parts (Bothwell et al. 2023), best scheme of every model\n{table}"

    def __repr__(self) -> str:
        """Return the number of figures."""
        models, schemes = self.scores["model"].nunique(), self.scores["scheme"].nunique()
        return (
            f"Bothwell2023: {len(self.scores)} scores and {len(self.settings)} settings of {models} models under "
            f"{schemes} tagging schemes"
        )


def bothwell2023() -> Bothwell2023:
    """Return the published test scores and best settings of parallelism taggers, shipped with the package.

    Returns
    -------
    Bothwell2023
        Scores and settings.

    Examples
    --------
    >>> best = bothwell2023().best().set_index("model")
    >>> best.at["latin-bert", "scheme"], round(float(best.at["latin-bert", "f1"]), 4)
    ('BIOMJ-TD', 0.3989)
    """
    scores = read_shipped("bothwell2023_scores.csv")
    scores[["embedding", "encoder"]] = scores["model"].map(MODELS).to_list()
    scores[["tagset", "link"]] = scores["scheme"].str.split("-", expand=True)
    whole = dict.fromkeys(["depth", "heads", "hidden_size", "input_size"], "Int64")
    settings = read_shipped("bothwell2023_settings.csv", dtype=whole)
    settings["lemmatized"] = settings["lemmatized"].map({"yes": True, "no": False}).astype("boolean")
    return Bothwell2023(scores=scores, settings=settings)
