"""Tables of results: worked numbers, the same numbers in every form, sentences word by word, and bad input."""

import re

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.base.grids import display_width
from langdiff.errors import ConfigError, DataError
from langdiff.tables.rule import joint_f
from tests.helpers import refused

few = pytest.mark.filterwarnings("ignore:standard errors from:langdiff.errors.LangdiffWarning")
NAMES = ["deu", "fin", "tur"]
A = [
    [100, 120, 90],
    [40, 52, 50],
    [220, 230, 180],
    [75, 70, 88],
    [150, 190, 140],
    [61, 60, 57],
    [95, 104, 99],
    [33, 41, 35],
]
B = [
    [110, 118, 96],
    [43, 55, 47],
    [231, 236, 201],
    [80, 72, 90],
    [149, 204, 150],
    [66, 58, 61],
    [99, 101, 108],
    [36, 40, 39],
]
PAIRED = {  # differences; errors by rows and by pairs of rows; those of fin - tur, with clubSandwich in model 1
    "1": ([-0.018467, 0.032142, -0.016744], [0.012302, 0.015653, 0.016729], [0.011845, 0.012754, 0.018166]),
    "2": ([-0.005300, 0.027237, -0.025648], [0.020835, 0.022799, 0.015868], [0.020038, 0.017557, 0.010149]),
}
FIN_TUR = {"1": (0.048886, 0.029923, 0.029350), "2": (0.052885, 0.033420, 0.021850)}


def fits_of(*tables, model="1", clusters=None, errors="sandwich"):
    """Return the fits of tables with every option named."""
    names = NAMES[: len(tables[0][0])]
    frames = [pd.DataFrame(np.array(rows, float), columns=names) for rows in tables]
    given = None if clusters is None else pd.Series(clusters, frames[0].index, name="pair")
    options = {"clusters": given, "dispersion": "common", "restricted": False, "errors": errors}
    return {name: ld.fit(frame, model=model, **options) for name, frame in zip("AB", frames, strict=False)}


@few
@pytest.mark.parametrize("model", ["1", "2"])
@pytest.mark.parametrize("clusters", [None, [1, 1, 2, 2, 3, 3, 4, 4]])
def test_paired_differences_are_the_worked_ones(model, clusters):
    made = ld.table(fits_of(A, B, model=model, clusters=clusters), paired=True, contrasts=["fin - tur"], scale="nats")
    delta, by_rows, by_pairs = PAIRED[model]
    shown = made.differences.set_index("row").loc[NAMES]
    assert shown["estimate"].to_numpy() == pytest.approx(delta, abs=1e-6)
    assert shown["std_error"].to_numpy() == pytest.approx(by_rows if clusters is None else by_pairs, abs=6e-7)
    row = made.contrasts[made.contrasts["column"] == "A − B"].iloc[0]
    estimate, rows, pairs = FIN_TUR[model]
    assert (row["estimate"], row["std_error"]) == pytest.approx(
        (estimate, rows if clusters is None else pairs), abs=6e-7
    )


@few
def test_errors_as_if_independent_are_longer():
    fits = fits_of(A, B)
    apart = np.hypot(*(fit.contrast("fin", "tur").std_error for fit in fits.values()))
    assert apart == pytest.approx(0.087518, abs=2e-6)


@few
def test_missing_cells_in_both():
    a, b = (np.array(rows, float) for rows in (A, B))
    for rows in (a, b):
        rows[2, 1], rows[5, 2] = np.nan, np.nan
    made = ld.table(fits_of(a, b), paired=True, contrasts=["fin - tur"])
    row = made.contrasts[made.contrasts["column"] == "A − B"].iloc[0]
    assert (row["estimate"], row["std_error"]) == pytest.approx((0.044906, 0.036458), abs=6e-7)
    assert row["df"] == pytest.approx(5.90, abs=0.005)


@few
def test_all_pairs_are_those_of_tukey():
    made = ld.table(fits_of(A, errors="information")["A"], contrasts="pairs")
    found = made.contrasts.set_index("row")
    turned = (
        found.loc[["fin - deu", "deu - tur", "fin - tur"]]
        if "deu - tur" in found.index
        else found.loc[["fin - deu", "tur - deu", "fin - tur"]]
    )
    assert turned["estimate"].abs().to_numpy() == pytest.approx([0.118448, 0.005029, 0.113419], abs=1e-6)
    assert turned["p"].to_numpy() == pytest.approx([0.041181, 0.925308, 0.049249], abs=1e-6)
    assert turned["p_adjusted"].to_numpy() == pytest.approx([0.097335, 0.994991, 0.114884], abs=0.003)
    ranks = made.estimates[["rank_low", "rank_high"]].drop_duplicates().to_numpy().tolist()
    assert ranks == [[1, 3]]


def test_joint_test_is_the_mean_of_squares_of_a_known_covariance():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(40, 4))
    root -= root.mean(axis=1, keepdims=True)
    covariance, estimate = root.T @ root, np.array([0.3, -0.1, 0.2, -0.4])
    by, f, q, rest, p, _ = joint_f(estimate, covariance, 3, 30.0)
    chi = estimate[:3] @ np.linalg.inv(covariance[:3, :3]) @ estimate[:3]  # any three of the four
    assert (by, f, q, rest) == ("F", pytest.approx(chi * 28 / 90), 3, 28)
    assert 0 < p < 1


def scored(seed=1, names=("a", "b", "c", "d"), intents=60):
    rng = np.random.default_rng(seed)
    size = 150 * rng.lognormal(0, 0.6, (intents, 1))
    shared = rng.normal(0, 0.15, (intents, len(names)))
    noise = (shared + rng.normal(0, 0.05, shared.shape) for _ in range(2))
    return [pd.DataFrame(size * np.exp(each), columns=list(names)) for each in noise]


def test_only_texts_shown_to_be_the_same_are_paired():
    tables = scored()
    lines = ld.table({name: ld.fit(table) for name, table in zip("AB", tables, strict=True)})
    assert not len(lines.tests)
    assert any("nothing shows that the texts are the same" in note for note in lines.notes)
    counts = tables[0].round() + 1
    known = [
        ld.fit(ld.Surprisals(bits=table, characters=counts, lm=name)) for name, table in zip("AB", tables, strict=True)
    ]
    assert ld.table(known).tests["column"].tolist() == ["A − B"]
    other = ld.fit(ld.Surprisals(bits=tables[1], characters=counts + 1, lm="B"))
    assert not len(ld.table([known[0], other]).tests)
    same_table = {"one": ld.fit(tables[0], model="1"), "two": ld.fit(tables[0], model="2")}
    assert not len(ld.table(same_table).tests) or ld.table(same_table).tests["p"].notna().all()


def test_differences_are_over_the_editions_that_both_have():
    one, two = scored()
    counts = one.round() + 1
    fits = [
        ld.fit(ld.Surprisals(bits=one, characters=counts, lm="A")),
        ld.fit(ld.Surprisals(bits=two[["a", "b", "c"]], characters=counts[["a", "b", "c"]], lm="B")),
    ]
    made = ld.table(fits)
    alone = ld.table(
        {"A": ld.fit(one[["a", "b", "c"]], model="1"), "B": ld.fit(two[["a", "b", "c"]], model="1")}, paired=True
    )
    assert made.differences["row"].tolist() == ["a", "b", "c"]
    assert any("over the 3 editions that both have" in note for note in made.notes)
    assert made.differences["estimate"].to_numpy() == pytest.approx(alone.differences["estimate"].to_numpy(), abs=0.01)
    assert "–" in made.text()


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("fits", [1, 3, 7])
def test_no_line_is_wider(width, fits):
    name = "an edition with a very long name indeed"
    tables = {f"language model {k}": scored(k, (name, "汉语", "c"), 30)[0] for k in range(fits)}
    text = ld.table({lm: ld.fit(table) for lm, table in tables.items()}, contrasts="pairs").text(width)
    assert max(map(display_width, text.splitlines())) <= width
    assert len(re.findall(r"±\d", text)) >= 3 * fits


def test_rows_that_are_cut_are_named_in_full():
    name = "x" * 70
    text = ld.table(ld.fit(scored(1, (name, "b", "c"))[0])).text(60)
    assert f"{'x' * 17}…" in text
    assert name in text


def fixed(estimates, error, names=None, **more):
    names = names or [f"e{k}" for k in range(len(estimates))]
    covariance = pd.DataFrame(np.eye(len(names)) * error**2, names, names)
    return ld.Effects.from_covariance(pd.Series(estimates, names), covariance=covariance, title="lm", **more)


def about(groups):
    """Return families and names of the editions e0, e1, …."""
    names = [f"Edition {k}" for k in range(len(groups))]
    return pd.DataFrame({"family": list(groups), "full": names}, [f"e{k}" for k in range(len(groups))])


def abilities(estimates, error):
    scale = ld.fit_outcomes(ld.simulate_outcomes(60, 3, seed=1).outcomes).abilities.scale
    return fixed(estimates, error, scale=scale)


PAIRS = "pairs were shown to differ (simultaneous, 5 %)."
SENTENCES = {  # ten fixed results with all that is said of them
    "two extremes": (
        lambda: ld.table(fixed([0.2, 0.0, -0.2], 0.01)),
        ["e0 is hardest under lm (+22.1 ± 1.2 %; rank 1 of 3), e2 easiest (−18.1 ± 0.8 %; rank 3).", f"3 of 3 {PAIRS}"],
    ),
    "one extreme": (
        lambda: ld.table(fixed([0.2, 0.19, -0.2], 0.01)),
        [
            "No single edition is hardest under lm: e0 (+22.1 ± 1.2 %) and e1 cannot be told apart (ranks 1–2).",
            "e2 is easiest under lm (−18.1 ± 0.8 %; rank 3 of 3).",
            f"2 of 3 {PAIRS}",
        ],
    ),
    "no extreme": (
        lambda: ld.table(fixed([0.01] * 4 + [0.0] * 4, 0.1)),
        [
            "No single edition is hardest under lm: e0 (+1.0 ± 10.1 %), e1, e2, e3, e4 and 3 others cannot be told "
            "apart (ranks 1–8).",
            "No single edition is easiest under lm: e7 (+0.0 ± 10.0 %), e6, e5, e4, e3 and 3 others cannot be told "
            "apart (ranks 1–8).",
            f"0 of 28 {PAIRS}",
        ],
    ),
    "one other": (
        lambda: ld.table(fixed([0.01] * 3 + [0.0] * 3, 0.1)),
        [
            "No single edition is hardest under lm: e0 (+1.0 ± 10.1 %), e1, e2, e3, e4 and 1 other cannot be told "
            "apart (ranks 1–6).",
            "No single edition is easiest under lm: e5 (+0.0 ± 10.0 %), e4, e3, e2, e1 and 1 other cannot be told "
            "apart (ranks 1–6).",
            f"0 of 15 {PAIRS}",
        ],
    ),
    "one pair, names": (
        lambda: ld.table(fixed([0.2, -0.2], 0.01), edition_info=about("AB"), names="full"),
        [
            "Edition 0 is hardest under lm (+22.1 ± 1.2 %; rank 1 of 2), Edition 1 easiest (−18.1 ± 0.8 %; rank 2).",
            "The only pair was shown to differ (simultaneous, 5 %).",
        ],
    ),
    "nats, another level": (
        lambda: ld.table(fixed([0.04, 0.0, -0.04], 0.02), scale="nats", level=0.9),
        [
            "No single edition is hardest under lm: e0 (+0.040 ± 0.020 nats) and e1 cannot be told apart (ranks 1–3).",
            "No single edition is easiest under lm: e2 (−0.040 ± 0.020 nats) and e1 cannot be told apart (ranks 1–3).",
            "1 of 3 pairs was shown to differ (simultaneous, 10 %).",
        ],
    ),
    "groups": (
        lambda: ld.table(fixed([0.2, 0.1, -0.1, -0.2], 0.01), by="family", edition_info=about("AABB")),
        [
            "e0 is hardest under lm (+22.1 ± 1.2 %; rank 1 of 4), e3 easiest (−18.1 ± 0.8 %; rank 4).",
            f"6 of 6 {PAIRS}",
            "Means of groups under lm: A +16.2 ± 0.8 %, B −13.9 ± 0.6 %.",
        ],
    ),
    "groups alone": (
        lambda: ld.table(fixed([0.01, 0.0, 0.0], 0.1), by="family", rows="groups", edition_info=about("AAB")),
        [
            "No single family is hardest under lm: A (+0.5 ± 7.1 %) and B cannot be told apart (ranks 1–2).",
            "No single family is easiest under lm: B (+0.0 ± 10.0 %) and A cannot be told apart (ranks 1–2).",
            "The only pair was not shown to differ (simultaneous, 5 %).",
        ],
    ),
    "published figures": (
        lambda: ld.table(ld.as_effects(pd.Series({"deu": 0.1, "fra": -0.1}))),
        ["deu has the highest estimate (+10.5 %), fra the lowest (−9.5 %); errors that hold together are not known."],
    ),
    "abilities": (
        lambda: ld.table(abilities([1.0, 0.0, -1.0], 0.1)),
        [
            "e0 is ablest under lm (+1.000 ± 0.100 log odds; rank 1 of 3), e2 weakest (−1.000 ± 0.100 log odds; "
            "rank 3).",
            f"3 of 3 {PAIRS}",
        ],
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_sentences_word_by_word(case):
    make, sentences = SENTENCES[case]
    found = make().sentences()
    assert found == sentences
    assert not re.search("equal|no difference|significan|the same as", " ".join(found), re.IGNORECASE)


def test_of_two_language_models_and_of_families():
    fits = [ld.fit(table, clusters="document") for table in ld.datasets.ntrex10()]
    made = ld.table(fits, by="family", contrasts=["Germanic - Romance"], names="name")
    told = " ".join(made.sentences())
    assert "kneser-ney-3 and kneser-ney-6 give different difficulties (sign flips, p < .001). The largest" in told
    assert (
        "is Vietnamese: 8.1 ± 0.4 % easier under kneser-ney-3 than under kneser-ney-6, relative to the average" in told
    )
    row = made.contrasts.iloc[0]
    expected = fits[0].contrast(["dan", "deu", "nld"], ["fra", "ita", "spa"])
    assert (row["estimate"], row["std_error"]) == pytest.approx((expected.estimate, expected.std_error))
    assert "  Hungarian" in made.text()
    groups = ld.table(fits[0], by="family", rows="groups", contrasts="pairs")
    assert len(groups.contrasts) == 10


def test_bad_requests_are_told():
    fit = ld.fit(scored()[0])
    for match, options in (
        ("there are none: give", {"by": "family"}),
        ("rows='groups' needs", {"rows": "groups"}),
        ("'a - b', with spaces", {"contrasts": ["a-b"]}),
        ("not in this table: 'e'. There are", {"contrasts": ["a - e"]}),
        ("on both sides", {"contrasts": ["a - a"]}),
        ("adjust is one of", {"contrasts": "pairs", "adjust": "tukey"}),
        ("level must be", {"level": 95}),
        ("differences need two fits", {"paired": True}),
        ("english", {"names": "english"}),
    ):
        refused(ConfigError, match, ld.table, fit, **options)
    refused(ConfigError, "give a mapping", ld.table, [fit, fit])
    info = pd.DataFrame({"family": ["a", "x", "x", "y"]}, index=list("abcd"))
    with pytest.raises(ConfigError, match="named like editions"):
        ld.table(fit, by="family", edition_info=info.assign(family=["b", "x", "x", "y"]))
    with pytest.raises(ConfigError, match="different units"):
        ld.table(
            {
                "a": fit,
                "b": ld.Effects.from_covariance(
                    fit.difficulty,
                    covariance=fit.covariance,
                    scale=ld.fit_outcomes(ld.simulate_outcomes(60, 3, seed=1).outcomes).abilities.scale,
                ),
            }
        )
    plain = ld.table(ld.as_effects(pd.Series({"a": 0.1, "b": -0.1})))
    assert "±" not in plain.grid().text(80)
    refused(DataError, "joint covariance", ld.table, ld.as_effects(pd.Series({"a": 0.1, "b": -0.1})), contrasts="pairs")


def test_saved_by_the_ending(tmp_path):
    made = ld.table(ld.fit(scored()[0]), contrasts="pairs")
    for ending in ("json", "csv", "tsv", "parquet", "md", "tex", "html", "txt"):
        made.save(tmp_path / f"t.{ending}")
    assert ld.read(tmp_path / "t.json").text() == made.text()
    frame = made.to_frame()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "t.csv"), frame, check_dtype=False)
    assert (tmp_path / "t.txt").read_text(encoding="utf-8").rstrip() == made.text(80)
    refused(ConfigError, re.escape("unknown kind of file '.cvs'; use .json, .csv"), made.save, tmp_path / "t.cvs")


def test_english_names_by_codes():
    codes = ["deu", "fin-1992", "x1"]
    made = ld.table(fixed([0.2, 0.0, -0.2], 0.01, names=codes), names="english")
    assert made.lines["name"].tolist() == ["German", "Finnish", "x1"]
    assert made.sentences()[0].startswith("German is hardest under lm")
    assert made.contrasts.empty
    assert made.estimates["row"].tolist() == codes  # data keep their names
    own = pd.DataFrame({"english": ["the first", "the second", "the third"]}, codes)
    made = ld.table(fixed([0.2, 0.0, -0.2], 0.01, names=codes), names="english", edition_info=own)
    assert made.lines["name"].tolist() == ["the first", "the second", "the third"]
    with pytest.raises(ConfigError, match="no edition is called by a code of ISO 639"):
        ld.table(fixed([0.2, -0.2], 0.01), names="english")


def test_properties_of_editions_that_do_not_fit_are_refused():
    fit = ld.fit(ld.simulate(60, 3, seed=1).surprisals)
    first, second, third = fit.difficulty.index
    twice = pd.DataFrame({"family": ["A", "B", "B"]}, [first, first, second])
    with pytest.raises(ConfigError, match=r"1 edition\(s\) are in edition_info more than once"):
        ld.table(fit, by="family", edition_info=twice)
    with pytest.raises(ConfigError, match="no row for any of 3 editions"):
        ld.table(fit, edition_info=pd.DataFrame({"family": ["A"]}, ["German"]))
    same = pd.DataFrame({"family": ["A", "A", "B"]}, [first, second, third])
    names = set(ld.table(fit, names="family", edition_info=same).lines["name"])
    assert names == {f"A ({first})", f"A ({second})", "B"}
