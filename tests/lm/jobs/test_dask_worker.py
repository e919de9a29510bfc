import pickle

import pandas as pd
from pandas.testing import assert_frame_equal, assert_series_equal

import langdiff as ld
from langdiff.corpora import synthesize
from langdiff.lm import compute
from langdiff.lm.jobs.dask_jobs import catalogue_of, pack, unpack, with_intents, without_intents
from langdiff.lm.jobs.job import Job, JobResult
from langdiff.lm.ngram.recipe import KneserNeyRecipe
from langdiff.lm.scoring import PRICED


def make_job(parts, edition):
    recipe = KneserNeyRecipe(name="kneser-ney-2", order=2)
    settings = {"max_replaced": 1.0, "device": "cpu", "seed": 3, "folder": None}
    parts = compute._of_edition(parts, edition)
    return Job(edition=edition, parts=parts, recipe=recipe, scoring=PRICED, **settings)


def sparse_parts(n=90):
    """Every third text of one edition and every fourth of the other is missing in the test part."""
    frame = synthesize(n, 2, seed=1).multitext.to_frame()
    frame.index = [f"{row:08}" for row in range(n)]
    parts = {"train": frame[:30], "dev": frame[30:41], "test": frame[41:].copy()}
    for column in range(2):
        parts["test"].iloc[:: column + 3, column] = None
    return ld.Parts(**{name: ld.read_frame(texts) for name, texts in parts.items()})


def test_a_parcel_is_the_job():
    parts = sparse_parts()
    for edition in parts.test.editions:
        job = make_job(parts, edition)
        parcel = pickle.loads(pickle.dumps(pack(job)))
        again = unpack(parcel, catalogue_of(parts))
        for name in ("train", "dev", "test"):
            texts = getattr(parts, name).text(edition)
            assert_series_equal(getattr(again.parts, name).text(edition), texts)
            assert_series_equal(getattr(job.parts, name).text(edition), texts)
        settings = [{n: v for n, v in vars(each).items() if n != "parts"} for each in (job, again)]
        assert settings[0] == settings[1]


def test_a_result_comes_home_with_its_intents():
    parts = sparse_parts()
    job = make_job(parts, parts.test.editions[1])
    texts = parts.test.text(job.edition)
    result = JobResult(
        surprisals=pd.DataFrame({"bits": range(len(texts))}, index=texts.index),
        part="test",
        scoring=PRICED,
        of_model=(),
    )
    sent = pickle.loads(pickle.dumps(without_intents(result)))
    assert_frame_equal(with_intents(sent, job).surprisals, result.surprisals)


def test_names_of_intents_are_not_in_parcels(tmp_path):
    """A Bible's worth of verses: the parcel has a bit for each, and the path of the file."""
    n = 31_000
    for edition in ("eng", "deu"):
        (tmp_path / f"{edition}.txt").write_text("\n".join(["a dog"] * n), encoding="utf-8")
    multitext = ld.read_multitext(tmp_path, format="moses")
    ends = (("train", 0, 29_000), ("dev", 29_000, 30_000), ("test", 30_000, n))
    parts = ld.Parts(**{name: multitext.sel(intents=multitext.intents[a:b]) for name, a, b in ends})
    job = make_job(parts, "eng")
    assert len(pickle.dumps(pack(job))) < n / 8 + 2500
    assert len(pickle.dumps(job)) > 20 * len(pickle.dumps(pack(job)))
