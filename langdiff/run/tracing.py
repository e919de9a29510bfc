"""From a table or a figure back to fit, bits, language models and texts: links that hold, and that do not."""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.checksums import CHECKSUMS, DamageError, format_of, hash_files, read_checksums
from langdiff.base.io import as_path, parse_json, read_bytes
from langdiff.base.result import TABLES, read
from langdiff.base.saving import check_file
from langdiff.errors import DataError, LangdiffError
from langdiff.lm.jobs.folder import KEY
from langdiff.regression import DifficultyFit, fit
from langdiff.regression.table import hash_of_bits, identify_table
from langdiff.run.directory import EXPERIMENT, MANIFEST, is_finished
from langdiff.run.upkeep import read_settings, verify_run
from langdiff.tables.surprisals import Surprisals

COLUMNS = ["file", "link", "state", "reason"]
MOST_CELLS = 500_000  # of a fit that is computed again, in a few seconds
CLOSE = 1e-6  # difficulties of two computations


def verify(*paths: str | Path) -> pd.DataFrame:
    """Follow files back to their origins by hashes, and compute again fits that take seconds.

    Parameters
    ----------
    *paths : str or Path
        Tables, figures and results that langdiff has saved, directories of runs, caches of language models. Bits and
        language models are also looked for beside a file, and among the paths.

    Returns
    -------
    DataFrame
        One row per link, in order: ``file``; ``link``: ``"file"`` (it is as it was written), ``"input"``, ``"fit"``
        (computed from bits), ``"bits"`` (scored by models), ``"models"``, ``"texts"``; ``state``: ``"whole"``,
        ``"recomputed"``, ``"given"`` (made elsewhere, and as it was when it was used), ``"damaged"``, ``"missing"``,
        ``"changed"``, ``"unrecorded"``, ``"unfinished"`` or ``"unproven"`` (nothing is wrong, but nothing shows where
        it is from); and ``reason``, in words.

    Raises
    ------
    DataError
        If there is no such file, or a folder is neither a run nor a cache of language models.

    Examples
    --------
    >>> import tempfile
    >>> import langdiff as ld
    >>> with tempfile.TemporaryDirectory() as name:
    ...     bits = ld.simulate(50, 3, seed=1).surprisals
    ...     bits.save(f"{name}/bits.csv")
    ...     ld.fit(bits).save(f"{name}/fit.json")
    ...     verify(f"{name}/fit.json")[["link", "state"]].to_numpy().tolist()
    [['file', 'whole'], ['fit', 'recomputed'], ['file', 'whole'], ['bits', 'unproven']]
    """
    trace = _Trace([as_path(path) for path in paths])
    for path in trace.paths:
        if not path.exists():
            raise DataError(f"{path}: there is no such file or folder.")
        trace.follow_folder(path) if path.is_dir() else trace.follow(path)
    return pd.DataFrame(trace.rows, columns=COLUMNS)


@dataclass
class _Trace:
    paths: list[Path]
    rows: list[tuple[str, str, str, str]] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)

    def add(self, path: Path, link: str, state: str, reason: str = "") -> None:
        self.rows.append((str(path), link, state, reason))

    def follow_folder(self, folder: Path) -> None:
        """Check all files of a run or cache, then the origins of fits, bits and models."""
        for name, state, reason in verify_run(folder).itertuples(index=False):
            self.add(folder / name, "file", state, reason)
        if (folder / EXPERIMENT).is_file() and is_finished(folder):
            self.seen |= {path.resolve() for path in folder.rglob("*")}
            for path in sorted(folder.glob("fits/*.json")):
                self._fit(path, _opened(path))
            for path in sorted(folder.glob("surprisals/*")):
                if path.suffix in TABLES:
                    self._bits(path, _opened(path))
            self._texts(folder)

    def follow(self, path: Path, *, given: bool = False) -> None:
        """Check a file, then its inputs, or others by its content; an input may have been made elsewhere."""
        if path.resolve() in self.seen:
            return
        self.seen.add(path.resolve())
        run = next((one for one in path.parents if (one / EXPERIMENT).is_file() and is_finished(one)), None)
        try:
            manifest, held = self._own(path, run, given=given)
        except LangdiffError as error:
            self.add(path, "file", "damaged", str(error))
            return
        if run is not None:
            self._within(path, run, held)
            return
        if given and not manifest:
            return
        inputs = manifest.get("inputs", {})
        for name, digest in inputs.items():
            self._input(path, name, digest)
        if isinstance(held, DifficultyFit):
            self._fit(path, held, [_near(path, name) for name in inputs])
        elif isinstance(held, Surprisals):
            self._bits(path, held)
        elif not inputs and (origin := self._signed(path, manifest.get("signature", ""))):
            self.follow(origin)
        elif not inputs:
            self.add(path, "input", "unproven", "it names no input, and no result of its signature is beside it.")

    def _signed(self, path: Path, signature: str) -> Path | None:
        """Return a result, given or next to a file, that has the signature of the file or its beginning."""
        for candidate in [*self.paths, *sorted(path.parent.glob("*.json"))]:
            held = _opened(candidate) if candidate.suffix == ".json" else None
            if (own := getattr(held, "signature", None)) and signature.startswith(own):
                return candidate
        return None

    def _own(self, path: Path, run: Path | None, *, given: bool) -> tuple[Mapping[str, Any], Any]:
        """Return the manifest of a file that is whole, and the object in it, if any."""
        manifest: Mapping[str, Any] | None = None
        if run is not None:
            with suppress(DamageError):
                read_checksums(run).read(path.relative_to(run).as_posix())
                self.add(path, "file", "whole", f"by {CHECKSUMS} of {run}")
                return {}, _opened(path)
        if path.suffix == ".json":
            if format_of(path) is None:
                raise DataError(f"{path}: not a file that langdiff has saved.")
            held = read(path)
            manifest = parse_json(read_bytes(path)).get("manifest", {})
        else:
            manifest = check_file(path)
            held = _opened(path)
        if manifest is None and given:
            self.add(path, "input", "given", "it is as it was; it was made elsewhere, so that the chain begins here.")
        elif manifest is None:
            self.add(path, "file", "unrecorded", "it has no manifest: made elsewhere, or its .json is missing.")
        else:
            self.add(path, "file", "whole")
        return manifest or {}, held

    def _input(self, path: Path, name: str, digest: str) -> None:
        source = _near(path, name)
        if not source.exists():
            self.add(source, "input", "missing", f"{path} was made from it.")
        elif hash_files(source) != digest:
            self.add(source, "input", "changed", f"it is another than when {path} was made from it.")
        elif source.is_dir():
            self.add(source, "input", "whole")
        else:
            self.follow(source, given=True)

    def _within(self, path: Path, run: Path, held: Any) -> None:
        """Follow a file of a run: tables and figures to its fits, these to bits and models."""
        place = path.relative_to(run).parts[0]
        found = [path] if place in ("fits", "surprisals") else sorted(run.glob("fits/*.json"))
        for one in found:
            if one != path:
                self.follow(one)
            elif isinstance(held, DifficultyFit):
                self._fit(one, held)
            elif isinstance(held, Surprisals):
                self._bits(one, held)
        if isinstance(held, Surprisals):
            self._texts(run)

    def _fit(self, path: Path, found: DifficultyFit | None, inputs: Iterable[Path] = ()) -> None:
        """Find the bits by their hash in the signature, and fit them again."""
        if found is None:
            self.add(path, "fit", "unproven", "only fits of difficulties are computed again.")
            return
        wanted = hash_of_bits(found.signature)
        for candidate, bits in self._tables(path, inputs):
            if wanted == identify_table(bits)["bits"]:
                self.rows.append((str(path), "fit", *_again(found, bits, candidate)))
                self.follow(candidate)
                return
        self.add(path, "fit", "unproven", f"no table with bits:{wanted} is beside it or named: give its file, too.")

    def _tables(self, path: Path, inputs: Iterable[Path]) -> Iterator[tuple[Path, Surprisals]]:
        folders = [path.parent, path.parent.parent / "surprisals"]
        near = [one for folder in folders for one in sorted(folder.glob("*"))]
        for candidate in dict.fromkeys([*inputs, *(one for one in self.paths if one.is_file()), *near]):
            if candidate.suffix in TABLES and isinstance(bits := _opened(candidate), Surprisals):
                yield candidate, bits

    def _bits(self, path: Path, bits: Surprisals | None) -> None:
        """Find the language models that scored the texts, and compare their bits."""
        if bits is None:
            self.add(path, "bits", "unproven", "it cannot be read as a table of bits.")
            return
        above = (one for one in path.parents if (one / "jobs").is_dir())
        caches = [*(one for one in self.paths if one.is_dir()), *islice(above, 1)]
        known = {key.parent: parse_json(read_bytes(key)) for cache in caches for key in sorted(cache.rglob(KEY))}
        recipe = bits.provenance.recipe if bits.provenance is not None else None
        for edition in bits.bits.columns:
            of_edition = [job for job, key in known.items() if key["edition"] == edition]
            tables = [table for job in of_edition for table in sorted(job.glob("surprisals*.parquet"))]
            equal = next((table for table in tables if _equal(table, bits.bits[edition])), None)
            if equal is None:
                why = "bits of its language model are other ones" if tables else "its language model is not there"
                state = "changed" if tables else "unproven"
                self.add(path, "bits", state, f"{edition} ({recipe or 'unknown model'}): {why}.")
                return
            try:
                damage = read_checksums(equal.parent).damage()
            except DamageError as error:
                damage = {CHECKSUMS: str(error)}
            if damage:
                self.add(equal.parent, "models", "damaged", next(iter(damage.values())))
                return
        self.add(path, "bits", "whole", f"equal to scores of {bits.bits.shape[1]} language models, which are whole")

    def _texts(self, run: Path) -> None:
        """Compare the files of the corpus with their hashes in the manifest of the run."""
        path, manifest = run / MANIFEST, parse_json(read_bytes(run / MANIFEST))
        known, files = manifest.get("data", {}), manifest.get("files", {})
        if getattr(read_settings(run).corpus, "format", None) == "synthetic":
            self.add(path, "texts", "whole", "drawn from the settings of the run")
        elif not files or set(files) != set(known):
            self.add(path, "texts", "unproven", "the run knows no files on this machine for its texts.")
        else:
            for edition, digest in known.items():
                file = Path(files[edition])
                if not file.exists() or hash_files(file) != digest:
                    self.add(file, "texts", "changed" if file.exists() else "missing", f"{edition} was read from it.")
                    return
            self.add(path, "texts", "whole", f"{len(known)} editions are as they were read")


def _near(path: Path, name: str) -> Path:
    return Path(os.path.normpath(path.parent / name))


def _opened(path: Path) -> Any:
    """Return the object in a file if `langdiff.read` reads it, else None."""
    if path.suffix not in (".json", *TABLES):
        return None
    with suppress(LangdiffError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read(path)
    return None


def _again(found: DifficultyFit, bits: Surprisals, source: Path) -> tuple[str, str]:
    """Fit the bits again with the settings of a fit, and return state and reason."""
    if bits.bits.size > MOST_CELLS:
        return "whole", f"the bits of {source} by their hash; more than {MOST_CELLS:,} cells are not fitted again"
    settings: dict[str, Any] = {"model": found.model, "restricted": found.restricted}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            again = fit(bits, **settings)
        except LangdiffError as error:
            return "unproven", f"it cannot be fitted again: {error}"
    if again.signature != found.signature:
        return "whole", f"the bits of {source} by their hash; not fitted again, as it has settings of its own"
    off = float(np.abs(again.difficulty - found.difficulty.reindex(again.difficulty.index)).max())
    if not off < CLOSE:
        return "changed", f"the bits of {source} give difficulties that differ by {off:.2g}."
    return "recomputed", f"from {source}; difficulties are equal to {off:.0e}"


def _equal(path: Path, bits: pd.Series) -> bool:
    """Return whether the scores of a language model hold the bits of an edition."""
    try:
        scores = pd.read_parquet(path, columns=["intent", "bits"]).set_index("intent")["bits"]
    except (OSError, ValueError, KeyError):
        return False
    found = scores.reindex(bits.dropna().index.astype(str))
    return bool(len(found) and np.allclose(found, bits.dropna(), rtol=1e-9, atol=0))
