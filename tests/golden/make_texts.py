"""Golden cases of texts: selection and splits, bits of language models, parity."""

import tempfile

import numpy as np
import pandas as pd

import langdiff as ld
from langdiff.lm import Compute, compare_with_baselines, fit_mixture, measure_baselines, token_scores, train_kneser_ney
from langdiff.parity.tokenizers import diagnose_tokens
from tests.golden.make_fit import COMPLETE, TABLE, table_of
from tests.golden.record import columns, golden, loose, texts, without_hashes

WORDS = {
    "eng": ("the", "cat", "sat", "on", "a", "mat", "dog", "ran", "far", "and", "home"),
    "ell": ("ο", "γάτος", "κάθισε", "στο", "χαλί", "σκύλος", "έτρεξε", "μακριά", "και", "σπίτι"),
    "deu": ("der", "Hund", "bellt", "eine", "Katze", "schläft", "ein", "altes", "Häuschen"),
}


def multitext(n_intents=90, *, editions=("eng-a", "eng-b", "ell-a", "deu-a"), missing=0.0, seed=1):
    """Return sentences of three to eight words; neighbours in the list of words follow each other often."""
    rng = np.random.default_rng(seed)
    frame = {}
    for edition in editions:
        words = WORDS[edition[:3]]
        lines = [
            " ".join(words[k % len(words)] for k in np.cumsum(rng.choice([1, 1, 1, 2, 5], size=rng.integers(3, 9))))
            for _ in range(n_intents)
        ]
        frame[edition] = [None if rng.random() < missing else line for line in lines]
    index = pd.Index([f"t{k:03d}" for k in range(n_intents)])
    info = pd.DataFrame({"book": [f"b{k // 15}" for k in range(n_intents)]}, index=index)
    return ld.read_frame(pd.DataFrame(frame, index=index), intent_info=info, trust=["repeated"])


def holes():
    """Return a multitext in which editions lack many intents, some of them the same."""
    return multitext(60, editions=("eng-a", "eng-b", "eng-c", "ell-a", "ell-b", "deu-a", "deu-b"), missing=0.3, seed=2)


# selection and splits


def select(**options):
    """Select from the multitext with holes, naming every option."""
    named = {
        "min_intents": 1, "objective": "cells", "require": (), "n_editions": None, "max_editions": None,
        "max_editions_per_language": None, "method": "search", "time_limit": None, "solver": None, "progress": False,
    }  # fmt: skip
    found = ld.select(holes(), **(named | options))
    return {
        "value": found.value,
        "optimal": found.optimal,
        "editions": list(found.editions),
        "intents": len(found.intents),
        **texts(found),
    }


@golden
def selection_cells():
    return select()


@golden
def selection_languages():
    return select(objective="languages", min_intents=8)


@golden
def selection_one_per_language():
    return select(max_editions_per_language=1, min_intents=10, require=["ell"])


@golden
def selection_of_five():
    return select(n_editions=5)


@golden
def selection_direct():
    return select(method="direct", max_editions=3)


@golden
def selection_front():
    found = ld.pareto_front(
        holes(), objective="cells", require=(), max_editions_per_language=None, exact=True, time_limit=None,
        solver=None, progress=False,
    )  # fmt: skip
    return {"frame": columns(found.to_frame().drop(columns=["seconds"], errors="ignore")), **texts(found)}


@golden
def multitext_described():
    found = holes()
    return {
        "sizes": columns(found.edition_sizes()),
        "describe": {str(key): value for key, value in found.describe().items()},
        "repr": repr(found),
    }


@golden
def split_by_row():
    parts = ld.split(multitext(), block=30, dev=5, test=5, incomplete="error")
    return _parts(parts)


@golden
def split_by_groups():
    return _parts(ld.split(multitext(), groups="book", incomplete="error"))


@golden
def split_with_holes():
    return _parts(ld.split(multitext(missing=0.05, seed=3), block=30, dev=5, test=5, incomplete="test"))


def _parts(parts):
    each = {"train": parts.train, "dev": parts.dev, "test": parts.test}
    return {
        "sizes": {name: len(part) for name, part in each.items()},
        "first": {name: list(part.intents[:3]) for name, part in each.items()},
        **texts(parts),
    }


@golden
def split_in_folds():
    found = ld.split_into_folds(multitext(), 3, groups="book", dev_share=0.2, incomplete="error")
    return {"fold": list(found.fold[::9]), "frame": columns(found.to_frame()), **texts(found)}


# bits of language models


def compute(parts, lm, **options):
    """Compute surprisals, naming every option."""
    named = {"scoring": None, "max_replaced": 0.3, "device": "cpu", "seed": 1, "cache": None, "workers": 1}
    return ld.compute_surprisals(parts, lm=lm, progress=False, **(named | options))


def of_bits(table):
    """Return what is recorded of a table of surprisal."""
    values = {
        "bits": table.bits.sum(),
        "first": table.bits.iloc[0],
        "eos_bits": table.eos_bits.sum(),
        "characters": table.characters.sum(),
        "bits_per_character": columns(table.bits_per_character()),
        "repr": repr(table),
    }
    return values | ({} if table.replaced is None else {"replaced": table.replaced.sum()})


def parts_of(n_intents=90):
    """Return the split of the small multitext."""
    return ld.split(multitext(n_intents), block=30, dev=5, test=5, incomplete="error")


@golden
def bits_kneser_ney_2():
    return of_bits(compute(parts_of(), "kneser-ney-2"))


@golden
def bits_kneser_ney_6():
    return of_bits(compute(parts_of(), "kneser-ney-6"))


@golden
def bits_unpriced():
    return of_bits(compute(parts_of(), "kneser-ney-3", scoring="unpriced"))


@golden
def bits_of_folds():
    folds = ld.split_into_folds(multitext(), 3, groups="book", dev_share=0.2, incomplete="error")
    return of_bits(compute(folds, "kneser-ney-3"))


@golden
def provenance_of_bits():
    table = compute(parts_of(), "kneser-ney-3")
    signature = table.provenance.signature()
    return {key: signature[key] for key in sorted(signature) if key not in ("versions", "compute")}


@loose(5e-3)
def bits_char_tiny():
    return of_bits(compute(parts_of(120).sel(["eng-a", "ell-a"]), "char-tiny"))


def tokens():
    """Return bits of tokens under a Kneser-Ney model."""
    parts = parts_of()
    train, dev = parts.train.text("eng-a"), parts.dev.text("eng-a")
    model = train_kneser_ney(train, dev, recipe="kneser-ney-4", name="small")
    return token_scores({"eng-a": model}, parts.test.sel(editions=["eng-a"]), scoring=None, max_replaced=0.3)


@golden
def token_bits():
    found = tokens()
    words = found.words()
    return {
        "head": columns(found.to_frame().head(4)),
        "words": columns(words.head(4)),
        "rows": len(words),
        **texts(found),
    }


@golden
def mixture():
    parts = parts_of()
    train, dev, test = (one.text("deu-a") for one in (parts.train, parts.dev, parts.test))
    models = [train_kneser_ney(half, dev, recipe="kneser-ney-2", name=None) for half in (train[:35], train[35:])]
    found = fit_mixture(models, dev, name="both")
    return {
        "weights": found.weights,
        "dev": found.dev_bits_per_character,
        "bits": found.surprisal(test, scoring=None)["bits"].head(4),
    }


@golden
def baselines():
    parts = parts_of()
    measured = measure_baselines(parts, progress=False)
    compared = compare_with_baselines([compute(parts, "kneser-ney-2")], measured)
    return {"baselines": columns(measured.filter(like="kneser-ney")), "compared": columns(compared)}


@golden
def curve_of_training_sizes():
    with tempfile.TemporaryDirectory() as cache:
        found = ld.difficulty_curve(
            parts_of(180), train_sizes=[40, 80], lm="kneser-ney-2", scoring=None, match="intents", n_seeds=1, seed=1,
            model="2", clusters=None, n_draws=100, max_replaced=0.3,
            compute=Compute(device="cpu", cache=cache, progress=False),
        )  # fmt: skip
    return {"difficulty": columns(found.difficulty), "repr": repr(found)}  # the signature hashes computed bits


@golden
def synthetic_languages():
    found = ld.synthesize(40, 3, languages=None, seed=2, grammar=None, missing=0.0).multitext
    return {edition: list(found.text(edition).iloc[:2]) for edition in found.editions}


# parity


def parity(source, **options):
    """Measure parity, naming every option."""
    named = {"surprisals": None, "tokenizers": None, "clusters": None, "model": "2"}
    found = ld.measure_parity(source, **(named | {"alpha": 2.5} | options))
    estimates = found.estimates.select_dtypes("number")
    return {"estimates": columns(estimates), "low": columns(found.low.select_dtypes("number")), **texts(found)}


class Pieces:
    """Splits words into pieces of three letters."""

    def encode(self, text, add_special_tokens=True):
        pieces = [word[i : i + 3] for word in text.split() for i in range(0, len(word), 3)]
        return ["<s>", *pieces, "</s>"] if add_special_tokens else pieces


@golden
def parity_of_texts():
    return parity(multitext(30), reference="eng-a")


@golden
def parity_with_intervals():
    return parity(multitext(30), reference="eng-a", clusters="book")


@golden
def parity_of_tokens():
    return parity(multitext(30), reference="eng-a", tokenizers={"pieces": Pieces()})


@golden
def parity_of_bits():
    return without_hashes(parity(TABLE, reference="eng"), "data")


@golden
def diagnosis_of_tokens():
    found = diagnose_tokens([text.split() for text in multitext(30).text("deu-a")], alpha=2.5)
    return {str(key): value for key, value in found.items()}


@golden
def mutual_information():
    given = (COMPLETE.bits * np.random.default_rng(3).uniform(0.3, 0.5, COMPLETE.bits.shape)).round(3)
    values = {}
    for clusters in (None, "chapter"):
        found = ld.xmi(COMPLETE, table_of(given), clusters=clusters)
        values[str(clusters)] = {"frame": columns(found.to_frame().select_dtypes("number")), **texts(found)}
    return values
