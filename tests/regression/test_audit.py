"""What fits find out about their tables: independent units, unequal noise and missing cells."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

import langdiff as ld
from langdiff.errors import ConfigError, LangdiffWarning
from langdiff.regression.fitting.audit import Residuals, equality_of_noise
from langdiff.regression.kernel.integrated import unequal
from langdiff.regression.kernel.residual_tests import (
    likeness_of_neighbours,
    likeness_within,
    noise_parts,
    residuals_within_rows,
)
from langdiff.tables.rule import sign_flips

DIFFICULTIES = np.array([0.0, 0.05, -0.05, 0.1, -0.1])
NOISE = 0.17


def bits_of(seed, n=300, editions=5, *, sd=1.0, documents=None, icc=0.1, names=None):
    """Return bits of intents with log-normal noise, not drawn by `simulate`; documents share noise."""
    rng = np.random.default_rng([7, seed])
    noise = rng.normal(size=(n, editions))
    if documents is not None:
        shared = rng.normal(size=(documents.max() + 1, editions))
        noise = np.sqrt(icc) * shared[documents] + np.sqrt(1 - icc) * noise
    spread = NOISE * np.broadcast_to(sd, editions)
    size = np.log(150) + 0.6 * rng.normal(size=(n, 1))
    log_bits = size + DIFFICULTIES[np.arange(editions) % 5] + spread * noise - spread**2 / 2  # expected bits
    index = [f"x{k}" for k in range(n)] if names is None else names
    return pd.DataFrame(np.exp(log_bits), index=index, columns=[f"e{j}" for j in range(editions)])


def quiet(table, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LangdiffWarning)
        return ld.fit(table, **options)


def test_of_a_plain_table_nothing_is_changed():
    bits = bits_of(1)
    found, before = ld.fit(bits), ld.fit(bits, clusters=None, dispersion="common", restricted=False)
    assert found.difficulty.equals(before.difficulty)
    assert found.covariance.equals(before.covariance)
    assert found.signature == before.signature
    assert found.audit.clusters.kind == "intents"
    assert not found.audit.order.alike
    assert found.audit.noise.fitted == "common"
    assert found.audit.noise.p_value > 0.01


def test_documents_in_names_and_unequal_noise_are_found_together():
    document = np.arange(600) // 25
    names = [f"doc{d}_s{k % 25}" for k, d in enumerate(document)]
    bits = bits_of(2, 600, sd=[0.5, 0.7, 1, 1.4, 2], documents=document, names=names)
    found = quiet(bits)
    assert found.audit.clusters.words == "24 documents (from names)"
    assert found.audit.noise.fitted == "edition"
    assert found.dispersions is not None
    labels = pd.Series(document, bits.index, name="document")
    explicit = quiet(bits, clusters=labels, dispersion="edition")
    assert np.allclose(found.difficulty, explicit.difficulty, atol=1e-12)
    assert np.allclose(found.covariance, explicit.covariance, atol=1e-15)
    assert re.search(r"\|dispersion:.*\|clusters:document#", found.signature)
    assert "auto" not in found.signature
    common = quiet(bits, dispersion="common")
    change = found.difficulty - common.difficulty
    assert found.audit.noise.largest_change == pytest.approx(100 * np.expm1(np.ptp(change)))


def test_own_dispersions_are_searched_for_once(monkeypatch):
    """Also with clusters; a second search is for the likelihood ratio, when that is read."""
    searches, usual = [], unequal.maximize_rows
    monkeypatch.setattr(unequal, "maximize_rows", lambda *a, **k: searches.append(1) or usual(*a, **k))
    document = pd.Series(np.arange(300) // 25, [f"x{k}" for k in range(300)], name="document")
    found = quiet(bits_of(2, 300, sd=[0.5, 0.7, 1, 1.4, 2]), clusters=document)
    assert found.audit.noise.fitted == "edition"
    assert "dispersions from" in found.summary()
    assert len(searches) == 1
    assert found.dispersions.likelihood_ratio_p == found.dispersions.likelihood_ratio_p < 1e-6
    assert len(searches) == 2


PARAGRAPH = re.compile(
    r"Independent units: (?P<units>.+?)(, design effect (?P<effect>[\d.]+))?\. (?P<order>Neighbouring rows .+?\. )?"
    r"(?P<noise>(Noise|Equal noise) .+?)\. "
    r"(?P<missing>(No cell is missing|\d+ % of the cells are missing).*?)\. "
    r"Errors: (?P<errors>.+?)\. "
    r"They are about (?P<about>other .+), not about other translations, seeds or training texts\."
)


@pytest.mark.parametrize("options", [{}, {"model": "1"}, {"model": "2L"}, {"intents": "random"}, {"clusters": None}])
def test_every_sentence_of_the_paragraph_has_its_place(options):
    bits = bits_of(3, 60)
    found = quiet(bits.mask(np.random.default_rng(1).random(bits.shape) < 0.1), **options)
    match = PARAGRAPH.fullmatch(found.audit.words)
    assert match, found.audit.words
    assert match["units"].startswith("60 intents")
    assert match["missing"].startswith(f"{100 * (1 - found.cells / 300):.0f} % of the cells")
    assert found.audit.words in found.summary().split("\n")


def test_neighbours_that_are_alike_make_ten_blocks():
    bits = bits_of(4, 300, documents=np.arange(300) // 10, icc=0.2)
    found = quiet(bits)
    assert found.audit.clusters.kind == "blocks"
    assert found.audit.clusters.labels.value_counts().tolist() == [30] * 10
    assert found.audit.clusters.labels.is_monotonic_increasing
    assert found.errors.n_clusters == 10
    permuted = quiet(bits.sample(frac=1, random_state=1))
    assert permuted.audit.clusters.kind == "intents"  # no test can show what a permutation hides
    assert quiet(bits, clusters=None).audit.order is None


def test_the_order_test_is_that_of_a_slow_loop():
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(70, 4))
    noise[rng.random(noise.shape) < 0.2] = np.nan
    residual = residuals_within_rows(noise, np.zeros(4))
    centred = residual - residual.mean(axis=0)
    u = np.linalg.svd(centred, full_matrices=False)[0][:, :3] * np.sqrt(70)
    d = [sum(u[i] @ u[i - k] + 3 / 70 for k in range(1, 6) if i >= k) for i in range(70)]
    assert likeness_of_neighbours(residual).statistic == pytest.approx(sum(d) / np.sqrt(np.sum(np.square(d))))


@pytest.mark.parametrize(("rows", "editions"), [(60, 5), (300, 5), (100, 20)])
@pytest.mark.parametrize("tails", [None, 3])
def test_the_order_test_keeps_its_level(rows, editions, tails):
    p_values = []
    for seed in range(200):
        rng = np.random.default_rng([8, seed])
        noise = rng.standard_t(tails, (rows, editions)) if tails else rng.normal(size=(rows, editions))
        p_values.append(likeness_of_neighbours(residuals_within_rows(noise, noise.mean(axis=0))).p_value)
    assert np.mean(np.array(p_values) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_the_order_test_has_the_power_of_the_table():
    """60 rows in documents of 8, ICC .1, 5 editions: 44 %; 300 rows: 99 %."""
    for rows, expected in ((60, 0.44), (300, 0.99)):
        rejected = [
            likeness_of_neighbours(residuals_within_rows(np.log(bits), np.log(bits).mean(axis=0))).p_value < 0.05
            for bits in (bits_of(seed, rows, documents=np.arange(rows) // 8).to_numpy() for seed in range(150))
        ]
        assert np.mean(rejected) == pytest.approx(expected, abs=0.13)


def test_the_score_test_of_noise_is_that_of_a_slow_loop():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(160, 4)) * [1, 1, 1, 1.5]
    noise[rng.random(noise.shape) < 0.2] = np.nan
    variance, cluster = rng.uniform(0.5, 2, 160), np.arange(160) // 8
    residual, there = residuals_within_rows(noise, np.zeros(4)), ~np.isnan(noise)
    q, kept = np.zeros((160, 4)), np.flatnonzero(there.sum(axis=1) >= 3)
    for i in kept:
        cells = there[i]
        q[i, cells] = residual[i, cells] ** 2 / (variance[i] * (1 - 1 / cells.sum()))
        q[i, cells] -= q[i, cells].mean()
    counts = there[kept].sum(axis=0)
    m = q[kept].sum(axis=0) / counts
    psi = np.zeros((20, 4))
    for i in kept:
        psi[cluster[i], there[i]] += ((q[i] - m) / counts)[there[i]]
    found = equality_of_noise(Residuals(residual, there, variance), cluster)
    assert (found.by, found.statistic) == ("sign flips", pytest.approx(counts @ m**2))
    u = psi + np.array([there[kept][cluster[kept] == g].sum(axis=0) for g in range(20)]) / counts * m
    signs = rng.choice([-1.0, 1.0], (20_000, 20))
    expected = ((signs @ u) ** 2 @ counts >= counts @ m**2).mean()
    assert found.p == pytest.approx(expected, abs=0.02)
    by_rows = equality_of_noise(Residuals(residual, there, variance), None)
    psi = (q[kept] - m * there[kept]) / counts / np.sqrt(1 - there[kept] / counts)
    v = psi.T @ psi
    h = np.array([[1, -1, 0, 0], [1, 0, -1, 0], [1, 0, 0, -1]]).T
    freedom = by_rows.freedom + 2
    t2 = m @ h @ np.linalg.solve(h.T @ v @ h, h.T @ m)
    assert (by_rows.by, by_rows.statistic) == ("F", pytest.approx(t2 * (freedom - 2) / (freedom * 3), rel=1e-4))


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_noise_of_thousands_of_rows_is_what_their_parts_tell(missing):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(2100, 5)) * [1, 1, 1, 1, 1.1]
    noise[rng.random(noise.shape) < missing] = np.nan
    there = ~np.isnan(noise) if missing else None
    residuals = Residuals(residuals_within_rows(noise, np.zeros(5)), there, rng.uniform(0.5, 2, 2100))
    by_rows, by_parts = (equality_of_noise(residuals, codes) for codes in (None, np.arange(2100)))
    assert by_rows.by == by_parts.by == "F"
    assert by_rows[1:] == pytest.approx(by_parts[1:], rel=1e-9)


def test_noise_of_the_worked_table():
    """A document a unit: two of the 64 sign vectors reach the statistic."""
    z = np.log([[100, 120, 90], [210, 230, 200], [50, 66, 47], [400, 430, 410], [80, 100, 70], [160, 204, 153]])
    parts = noise_parts(residuals_within_rows(np.tile(z, (4, 1)), z.mean(axis=0)), None, np.ones(24), np.arange(24) % 6)
    assert 1e5 * parts.mean == pytest.approx([-278.506, 222.1, 56.406], abs=5e-4)
    assert sign_flips(parts.parts, list("abcdef"), parts.cells)[1] == 2 / 64


@pytest.mark.parametrize(("rows", "editions", "tails", "most"), [(60, 5, None, 3), (300, 5, 5, 3), (60, 50, 3, 3)])
def test_the_score_test_of_noise_keeps_its_level(rows, editions, tails, most):
    rejected = []
    for seed in range(200):
        rng = np.random.default_rng([9, seed])
        noise = rng.standard_t(tails, (rows, editions)) if tails else rng.normal(size=(rows, editions))
        residual = residuals_within_rows(noise, noise.mean(axis=0))
        rejected.append(equality_of_noise(Residuals(residual, None, np.ones(rows)), None).p < 0.01)
    assert 100 * np.mean(rejected) < most + 1


def test_p_values_of_the_score_test_are_uniform():
    p_values = []
    for seed in range(300):
        noise = np.random.default_rng([10, seed]).normal(size=(300, 5))
        residual = residuals_within_rows(noise, noise.mean(axis=0))
        p_values.append(equality_of_noise(Residuals(residual, None, np.ones(300)), None).p)
    assert kstest(p_values, "uniform").pvalue > 0.001


def test_where_noise_cannot_be_tested_that_is_said():
    assert "there are two editions" in quiet(bits_of(5, 100, 2)).audit.words
    assert "there are fewer than 50 intents" in quiet(bits_of(5, 40)).audit.words
    assert "model 2L has one dispersion" in quiet(bits_of(5, 60), model="2L").audit.words


def test_of_two_editions_totals_are_told_if_they_differ():
    rng = np.random.default_rng(3)
    bits = bits_of(6, 400, 2)
    assert not quiet(bits).audit.noise.totals
    size = bits["e1"].to_numpy()
    bits["e0"] = size * np.exp(0.2 * np.log(size / 150) + 0.05 * rng.normal(size=400))  # long intents are harder
    assert "Total bits of e0 differ from those of e1 by" in quiet(bits).audit.words


def test_unequal_noise_that_is_not_fitted_is_warned_about():
    bits = bits_of(7, 300, sd=[0.5, 0.7, 1, 1.4, 2])
    info = pd.DataFrame({"x": [1.0, 2, 4, 5, 9]}, index=bits.columns)
    with pytest.warns(LangdiffWarning, match="noise differs between editions .* Total bits of e4 differ from those"):
        found = ld.fit(bits, model="1", formula="x", edition_info=info)
    assert found.audit.noise.unequal
    assert found.dispersions is None
    asked = ld.fit(bits, dispersion="common")
    assert "but all have one dispersion: that was asked for" in asked.audit.words


def test_errors_from_the_information_say_what_they_leave_out():
    bits = bits_of(8, 300, names=[f"doc{k // 10}_s{k % 10}" for k in range(300)])
    with pytest.warns(LangdiffWarning, match=r"errors take 300 intents as independent, although they are of 30"):
        found = ld.fit(bits, errors="information")
    assert "They take 300 intents as independent, although they are of 30 documents" in found.audit.words
    with pytest.raises(ConfigError, match="with clusters use errors='sandwich'"):
        ld.fit(bits, errors="information", clusters=found.audit.clusters.labels)


def test_the_bootstrap_draws_whole_blocks():
    bits = bits_of(4, 100, documents=np.arange(100) // 10, icc=0.5)
    found = quiet(bits, errors=ld.Bootstrap(99))
    assert (found.errors.clusters, found.errors.n_clusters) == ("block of rows", 10)


def test_incomplete_tables_of_model_2_are_restricted():
    bits = bits_of(9, 100)
    assert not ld.fit(bits).restricted
    gone = bits.mask(np.random.default_rng(1).random(bits.shape) < 0.1)
    assert quiet(gone).restricted
    assert not quiet(gone, restricted=False).restricted
    assert not quiet(gone, model="1").restricted
    assert not quiet(gone, intents="random").restricted


def test_a_distance_without_a_known_distribution_has_no_p():
    bits = bits_of(10, 300)
    gone = bits.mask(np.random.default_rng(1).random(bits.shape) < 0.2)
    assert 0 <= quiet(gone).audit.missing.p_value <= 1
    few = quiet(gone[:200])
    assert np.isnan(few.audit.missing.p_value)
    assert few.audit.missing.largest > 0
    assert "p not known" in few.audit.words


def test_missing_by_bits_is_warned_about():
    bits = bits_of(11, 1000)
    z = np.log(bits["e0"])
    x = ((z - z.mean()) / z.std()).to_numpy()[:, None]
    lost = np.random.default_rng(1).random((1000, 4)) < 1 / (1 + np.exp(1.6 - 2 * x))
    gone = bits.copy()
    gone.iloc[:, 1:] = gone.iloc[:, 1:].mask(lost)
    with pytest.warns(LangdiffWarning, match="fixed and random intents differ by up to"):
        found = ld.fit(gone)
    assert "see `intents`" in found.audit.words


def test_the_audit_is_saved(tmp_path):
    document = np.arange(300) // 12
    bits = bits_of(
        12, documents=document, sd=[0.5, 0.7, 1, 1.4, 2], names=[f"d{d}_{k}" for k, d in enumerate(document)]
    )
    found = quiet(bits)
    found.save(tmp_path / "fit.json")
    back = ld.read(tmp_path / "fit.json")
    assert back.audit.words == found.audit.words
    assert back.audit.clusters.labels.equals(found.audit.clusters.labels)
    assert back.audit.noise == found.audit.noise


def test_a_fit_stands_for_its_clusters():
    bits = bits_of(13, names=[f"doc{k // 10}_s{k % 10}" for k in range(300)])
    first = quiet(bits)
    second = quiet(bits[100:], clusters=first)
    assert (second.errors.clusters, second.errors.n_clusters) == ("document", 20)
    assert quiet(bits, clusters=quiet(bits, clusters=None)).audit.clusters.kind == "intents"


def test_the_estimand_is_told():
    equal, unequal = bits_of(1), bits_of(2, sd=[0.5, 0.7, 1, 1.4, 2])
    assert quiet(equal).estimand == "expected and median bits"
    assert quiet(unequal).estimand == "expected bits"
    assert quiet(unequal, model="1").estimand == "expected bits"
    assert quiet(unequal, model="1", dispersion="common").estimand == "median bits"
    assert quiet(unequal, dispersion="common").estimand == "expected bits"
    assert quiet(equal, model="2L").estimand == "median bits"
    found, medians = quiet(unequal), quiet(equal, model="2L")
    assert "difficulties are about expected bits; standard errors from" in found.summary()
    assert found.to_frame().attrs["estimand"] == found.plot().get_xlabel().split(" (")[0].removeprefix(
        "difficulty, ln "
    )
    one, other = found.difficulty.index[:2]
    assert str(found.contrast(one, other)).endswith("; expected bits")
    assert str(found.contrast(one, other, estimand="median")).endswith("; median bits")
    assert str(medians.contrast(one, other)).endswith("; median bits")
    assert str(quiet(equal).contrast(one, other)).endswith(f"p = {quiet(equal).contrast(one, other).p_value:.2g}")


@pytest.mark.parametrize(("alike", "documents"), [(0.06, False), (0.0, False), (0.12, True), (0.0, True)])
def test_columns_by_which_errors_would_be_longer_are_named(alike, documents):
    """30 translators of ten intents, or ten of three documents each."""
    rng, info = np.random.default_rng(5), {}
    translator = rng.permutation(np.repeat(np.arange(30), 10))
    if documents:
        document = np.arange(300) // 10
        translator, info = np.arange(30)[document] % 10, {"document": document}
    bits = np.exp(rng.normal(4.8, 0.6, (300, 1)) + DIFFICULTIES + rng.normal(0, NOISE, (300, 5)))
    bits *= np.exp(rng.normal(0, alike, (30, 5)))[translator]
    info = pd.DataFrame({"translator": [f"t{k}" for k in translator], "ordinal": rng.random(300), **info})
    table = ld.Surprisals(bits=pd.DataFrame(bits, columns=list("abcde")), intent_info=info)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        notes = ld.fit(table, model="1").audit.clusters.notes
        ld.fit(table, model="1", clusters="translator")
    named = [text for text in (str(each.message) for each in caught) if "times as long by translator" in text]
    assert len(named) == (alike > 0)
    assert any("times as long by translator" in note for note in notes) == (alike > 0)
    assert not named or "clusters='translator'" in named[0]


def test_the_design_effect_of_a_column_is_that_of_a_slow_loop():
    rng = np.random.default_rng(6)
    units, column = rng.integers(0, 12, 90), rng.integers(0, 8, 90)
    rows = rng.normal(size=(90, 3)) + rng.normal(size=(8, 3))[column]
    rows -= rows.mean(axis=0)
    by = [np.array([rows[code == k].sum(axis=0) for k in np.unique(code)]) for code in (column, units)]
    traces = [len(part) / (len(part) - 1) * np.trace(part.T @ part) for part in by]
    effect, p = likeness_within(rows, units, column)
    assert effect == pytest.approx(traces[0] / traces[1])
    assert p == 1 / 200
