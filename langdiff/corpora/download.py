"""Download of published corpora."""

import gzip
import logging
import re
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from platformdirs import user_cache_path

from langdiff.base.archives import members_of
from langdiff.base.progress import progress_bar
from langdiff.base.toml import read_packaged
from langdiff.errors import ConfigError, DataError, OutputError, option


@dataclass(frozen=True, kw_only=True)
class CorpusSource:
    """Address, checksum, licence and format of a published corpus.

    Attributes
    ----------
    title : str
        Name and version of the corpus.
    licence : str
        The terms in short; `home` has them in full.
    home : str
        Address of the page that describes it.
    url : str, optional
        Address of an archive (``.tar.gz``) that its publisher lets anyone download, which begins with ``https://``.
    sha256 : str, optional
        Checksum of the archive; without one, whoever downloads it gives it.
    format : str, optional
        Format of the files, as in `langdiff.read_multitext`.
    how : str
        How to read it, or how to get it where there is no `url`.
    """

    title: str
    licence: str
    home: str
    url: str | None = None
    sha256: str | None = None
    format: str | None = None
    how: str


SOURCES: Mapping[str, CorpusSource] = MappingProxyType(
    {name: CorpusSource(**settings) for name, settings in read_packaged("langdiff.corpora", "sources.toml").items()}
)
_REFUSED = ("http://",)  # what nobody may read or change on its way, also after a redirect
_TIMEOUT = 30  # seconds without a byte
_CHUNK = 1 << 20


def fetch(
    name: str,
    *,
    directory: str | Path | None = None,
    sha256: str | None = None,
    progress: bool | None = None,
    sources: Mapping[str, CorpusSource] = SOURCES,
) -> Path:
    """Download and unpack a corpus, unless it is there already.

    A download that is interrupted is kept, and the next call resumes it if the server can. The SHA-256 of the archive
    is checked, and that it holds plain files of a plausible size, before anything is unpacked; after an error nothing
    is left of it.

    Parameters
    ----------
    name : str
        Name of the corpus, as ``langdiff corpora fetch`` lists it with its licence.
    directory : str or Path, optional
        Folder of all corpora, each in a directory of its name; by default in the user's cache.
    sha256 : str, optional
        Checksum of the archive, 64 hexadecimal digits; needed where the publisher gives none.
    progress : bool, optional
        Whether to draw a progress bar on stderr; by default only if stderr is a terminal.
    sources : mapping from name to CorpusSource
        Corpora that can be downloaded; by default `langdiff.corpora.download.SOURCES`.

    Returns
    -------
    Path
        The corpus's directory; ``sources[name].how`` says which files in it to read.

    Raises
    ------
    ConfigError
        If the name is unknown, no checksum is known, or the one given is none or another than the publisher's.
    DataError
        If the publisher does not offer the corpus for download (the message says how to get it), or the download fails,
        is not encrypted, or is not the archive that was expected.
    OutputError
        If the directory cannot be written to.

    Examples
    --------
    >>> from langdiff.corpora.download import SOURCES
    >>> path = fetch("flores-200", directory="corpora")  # doctest: +SKIP
    >>> SOURCES["flores-200"].how
    'read flores200_dataset/dev/*.dev or devtest/*.devtest; not meant for training'
    """
    if name not in sources:
        near = get_close_matches(name, sources, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"unknown corpus {name!r}; known are {', '.join(sources)}.{hint}")
    source = sources[name]
    if source.url is None:
        raise DataError(f"{source.title}: no download ({source.licence}). To get it, {source.how}: {source.home}")
    source = _with_checksum(source, name, sha256)
    root = user_cache_path("langdiff") / "corpora" if directory is None else Path(directory).expanduser()
    target = root / name
    if not target.is_dir():
        with _as_output_errors(root):
            archive = _download(source, root, name, progress)
            try:
                _unpack(archive, target)
            finally:
                archive.unlink(missing_ok=True)
    return target


def _with_checksum(source: CorpusSource, name: str, given: str | None) -> CorpusSource:
    """Return a source with the checksum that its publisher or the user gives, and an address that is encrypted."""
    if (source.url or "").startswith(_REFUSED):
        raise DataError(f"{source.url}: not encrypted, so that anyone on the way may change it; only https is fetched.")
    if given is not None and not re.fullmatch("[0-9a-fA-F]{64}", given):
        raise ConfigError(f"{option('sha256', given)}: a SHA-256 has 64 hexadecimal digits.")
    if source.sha256 is not None and given is not None and source.sha256 != given.lower():
        raise ConfigError(f"{option('sha256', given)}: that of {name} is {source.sha256}. Leave it out.")
    if source.sha256 is None and given is None:
        raise ConfigError(
            f"{name}: its publisher gives no checksum. Give that of the archive ({option('sha256')}), such as the "
            f"one that `sha256sum` prints of {source.url} where you have downloaded it by other means."
        )
    return replace(source, sha256=source.sha256 or cast(str, given).lower())


def _download(source: CorpusSource, root: Path, name: str, progress: bool | None) -> Path:
    """Return the path of the archive, downloaded and checked."""
    import pooch  # type: ignore[import-untyped]
    from requests.exceptions import RequestException

    root.mkdir(parents=True, exist_ok=True)
    part = root / f"{name}.part"
    pooch.get_logger().setLevel(logging.WARNING)  # it reports the checksum, which is written to a file below
    try:
        archive = pooch.retrieve(
            source.url,
            known_hash=f"sha256:{source.sha256}",
            fname=f"{name}.tar.gz",
            path=root,
            downloader=_Resuming(part, name, progress),
        )
    except RequestException as error:
        kept = part.stat().st_size if part.is_file() else 0
        go_on = f" {kept:,} bytes are kept; the same call resumes from there." if kept else ""
        raise DataError(f"{source.url}: cannot be downloaded: {error}.{go_on}") from error
    except ValueError as error:  # what Pooch raises for a wrong checksum
        raise DataError(
            f"{source.url}: the download is not the archive that was expected (SHA-256 {source.sha256}); it has been "
            f"removed. Try again; if that does not help, the publisher has changed the file: see {source.home}."
        ) from error
    return Path(archive)


class _Resuming:
    """Downloader that resumes a partial file if the server still has the same file."""

    def __init__(self, part: Path, name: str, progress: bool | None) -> None:
        self.part = part
        self._tag = part.with_suffix(".part-tag")  # what the server calls the version that the part is of
        self._name = name
        self._progress = progress

    def __call__(self, url: str, output_file: str, _: Any) -> None:
        """Download to `output_file`, as Pooch requires."""
        import requests

        headers = {"Accept-Encoding": "identity"}  # ranges are of the file as it is
        have = self.part.stat().st_size if self.part.is_file() and self._tag.is_file() else 0
        if have:
            headers |= {"Range": f"bytes={have}-", "If-Range": self._tag.read_text(encoding="utf-8")}
        session = requests.Session()
        for scheme in _REFUSED:
            session.adapters.pop(scheme)
        with session, session.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:  # the part is all of it, or more
                self._forget()
                self(url, output_file, _)
                return
            response.raise_for_status()
            goes_on = response.status_code == requests.codes.partial_content
            tag = response.headers.get("ETag") or response.headers.get("Last-Modified")
            if tag and not tag.startswith("W/"):  # a weak tag does not promise the same bytes
                self._tag.write_text(tag, encoding="utf-8")
            else:
                self._tag.unlink(missing_ok=True)
            self._receive(response, have if goes_on else 0)
        self.part.replace(output_file)
        self._forget()

    def _receive(self, response: Any, have: int) -> None:
        length = response.headers.get("Content-Length")
        mebibytes = None if length is None else (have + int(length)) >> 20
        with progress_bar(progress=self._progress) as bar, self.part.open("ab" if have else "wb") as file:
            task = bar.add_task("MiB", total=mebibytes, note=self._name)
            bar.update(task, completed=have >> 20)
            for chunk in response.iter_content(_CHUNK):
                file.write(chunk)
                bar.update(task, completed=file.tell() >> 20)

    def _forget(self) -> None:
        self.part.unlink(missing_ok=True)
        self._tag.unlink(missing_ok=True)


def _unpack(archive: Path, target: Path) -> None:
    """Unpack into a temporary folder and rename it, so that a folder with the final name is always complete."""
    members_of(archive)  # an error if it expands too much, or has links or names that point elsewhere
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as temporary:
        inner = Path(temporary, "corpus")
        try:
            with tarfile.open(archive) as opened:
                opened.extractall(inner, filter="data")  # refuses names and links that point elsewhere
        except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(f"{archive.name}: cannot be unpacked: {error}. It has been removed; try again.") from error
        inner.rename(target)


@contextmanager
def _as_output_errors(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{root}: cannot be written to: {error.strerror or error}.") from error
