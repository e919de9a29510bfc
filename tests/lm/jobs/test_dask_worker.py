"""What is sent to the workers of a Dask cluster."""

import langdiff as ld
from langdiff.lm import compute
from langdiff.lm.jobs.dask_jobs import Call, parcel_of
from langdiff.lm.jobs.job import Job, run_job
from langdiff.lm.ngram.recipe import KneserNeyRecipe
from langdiff.lm.scoring import PRICED


def make_job(parts, edition):
    recipe = KneserNeyRecipe(name="kneser-ney-2", order=2)
    settings = {"max_replaced": 1.0, "device": "cpu", "seed": 3, "folder": None}
    parts = compute._of_edition(parts, edition)
    return Job(edition=edition, parts=parts, recipe=recipe, scoring=PRICED, **settings)


def test_a_job_of_a_bible_is_sent_in_few_bytes(tmp_path):
    n = 31_000
    for edition in ("eng", "deu"):
        (tmp_path / f"{edition}.txt").write_text("\n".join(["a dog"] * n), encoding="utf-8")
    multitext = ld.read_multitext(tmp_path, format="moses")
    ends = (("train", 0, 29_000), ("dev", 29_000, 30_000), ("test", 30_000, n))
    parts = ld.Parts(**{name: multitext.sel(intents=multitext.intents[a:b]) for name, a, b in ends})
    assert len(parcel_of(make_job(parts, "eng"), Call(work=run_job, version="0", probe=None))) < 40_000
