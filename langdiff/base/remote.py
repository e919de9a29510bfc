"""Files elsewhere: addresses such as ``https://…`` are brought into the user's cache, once, and read from there."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from filelock import FileLock
from platformdirs import user_cache_path

from langdiff.base.addresses import address_of, shown_address
from langdiff.base.io import LOCK, atomic_path, write_json
from langdiff.errors import DataError, LangdiffError, MissingExtraError, OutputError, listing, warn

NEEDS = {"hf": "huggingface_hub", "s3": "s3fs", "gs": "gcsfs", "az": "adlfs"}  # packages beside those of the extra
MARKS = ("ETag", "etag", "Content-MD5", "blob_id", "md5Hash", "Last-Modified", "LastModified", "mtime", "created")
MAX_FILES = 10_000  # of one pattern
SOURCES = "sources.json"  # beside the folder of files brought together: their addresses


def local_copies(paths: Any) -> Any:
    """Return what a user gave for files, with a path of this machine in place of each address.

    A pattern stands for all of its files, so that one address can become a list. What is neither an address nor a list
    or mapping of them is returned as it is.

    Warns
    -----
    LangdiffWarning
        If the store cannot be asked, so that a copy brought earlier is used.
    """
    if isinstance(paths, Mapping):
        return {name: local_copy(path) if address_of(path) else path for name, path in paths.items()}
    if isinstance(paths, list | tuple):
        return [each for path in paths for each in (_bring(str(address_of(path))) if address_of(path) else [path])]
    address = address_of(paths)
    if address is None:
        return paths
    found = _bring(address)
    return found if len(found) > 1 else found[0]


def local_copy(path: Any) -> Any:
    """Return a path with the copy in the cache in place of an address, which must be one file; see `local_copies`."""
    if address_of(path) is None:
        return path
    found = local_copies(path)
    if isinstance(found, list):
        raise DataError(f"{address_of(path)}: {len(found)} files match; name one.")
    return found


def source_of(path: object) -> tuple[str, str] | None:
    """Return the address and the SHA-256 of a copy in the cache or of a member of an archive; else None."""
    root = cache_folder()
    file = Path(str(path))
    if not file.is_relative_to(root):
        return None
    folder, *inner = file.relative_to(root).parts
    try:
        sources = json.loads((root / folder / SOURCES).read_text(encoding="utf-8"))
        known = sources[inner[1]]
        return "/".join([known["address"], *inner[2:]]), str(known["sha256"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def cache_folder() -> Path:
    """Return the folder of files brought from elsewhere."""
    return user_cache_path("langdiff", appauthor=False) / "remote"


def _bring(address: str) -> list[Path]:
    """Return the copies of the files that an address stands for, brought now unless they are there as they are now."""
    root = cache_folder()
    note = root / f"{_key(address)}.json"
    with _alone(root / _key(address)):
        store = _store(address)
        try:
            marks = _marks(store, address)
        except LangdiffError:
            raise
        except Exception as error:
            return _kept(note, address, error)
        key = _key(*(text for pair in marks.items() for text in pair))
        folder = root / key / _folder_name(address, marks)
        files = {name: folder / _name(name) for name in marks}
        if len(set(files.values())) < len(files):
            raise DataError(f"{address}: matches files of one name in several folders; give one folder at a time.")
        if not all(marks.values()) or not all(file.is_file() for file in files.values()):
            sources = {}
            for name, file in files.items():
                sources[file.name] = {"address": name, "sha256": _download(store, name, file)}
            write_json(root / key / SOURCES, sources)
        told = {
            "address": address,
            "date": datetime.now(UTC).date().isoformat(),
            "files": list(map(str, files.values())),
        }
        write_json(note, told)
    return sorted(files.values())


def _kept(note: Path, address: str, error: Exception) -> list[Path]:
    """Return the copies brought earlier, with a warning; an error where there are none."""
    cause = error.__cause__ or error  # of HTTP, every error is a file that is not there
    why = f"{shown_address(address)}: cannot be read now ({str(cause) or type(cause).__name__})"
    with suppress(OSError, ValueError, LookupError, TypeError):
        told = json.loads(note.read_text(encoding="utf-8"))
        files = [Path(file) for file in told["files"]]
        if files and all(file.is_file() and file.is_relative_to(cache_folder()) for file in files):
            warn(f"{why}; the copy of {told['date']} is read.")
            return files
    raise DataError(f"{why}, and no copy of it is in the cache.") from error


def _store(address: str) -> Any:
    """Return the file system of an address."""
    protocol = address.split("://", 1)[0].lower()
    try:
        import fsspec  # type: ignore[import-untyped]

        options = {"client_kwargs": {"trust_env": True}} if protocol == "https" else {}
        return fsspec.filesystem(protocol, skip_instance_cache=True, use_listings_cache=False, **options)
    except ImportError as error:
        also = f" {NEEDS[protocol]}" if protocol in NEEDS else ""
        raise MissingExtraError(
            f"{shown_address(address)}: reading files elsewhere needs packages that are not installed: "
            f"pip install 'langdiff[remote]'{also}."
        ) from error


def _marks(store: Any, address: str) -> dict[str, str]:
    """Return the addresses of the files that an address stands for, and the store's marks of their content."""
    protocol = address.split("://", 1)[0].lower()
    is_web = protocol in ("https", "http")
    if re.search(r"[*\[]" if is_web else r"[*?\[]", address):
        names = [str(name) for name in store.glob(address)]
        names = sorted(name if "://" in name else f"{protocol}://{name.lstrip('/')}" for name in names)
        if not names:
            raise DataError(f"{address}: no file matches this pattern.")
        if len(names) > MAX_FILES:
            raise DataError(f"{address}: {len(names):,} files match, more than {MAX_FILES:,}; narrow it.")
        if is_web and (others := [name for name in names if urlsplit(name).netloc != urlsplit(address).netloc]):
            raise DataError(f"{address}: the page links to files of another host: {listing(others)}.")
    else:
        names = [address]
    found = {}
    for name in names:
        info = store.info(name)
        if info.get("type") == "directory" or (is_web and name.endswith("/")):
            if len(names) > 1:
                continue
            raise DataError(f"{name}: is a folder; name its files by a pattern, such as {name.rstrip('/')}/*.txt.")
        if protocol == "https" and not str(info.get("url", name)).startswith("https://"):
            raise DataError(f"{name}: leads to an address without https://: {shown_address(str(info['url']))}.")
        mark = next((f"{key} {info[key]}" for key in MARKS if info.get(key)), "")
        found[name] = f"{mark} {info.get('size')}" if mark else ""
    return found


def _download(store: Any, address: str, file: Path) -> str:
    """Bring a file and return its SHA-256."""
    with atomic_path(file) as temporary:
        try:
            store.get_file(address, str(temporary))
        except Exception as error:  # each store has errors of its own
            if isinstance(error, OSError) and error.errno is not None and temporary.exists():
                raise  # the disk is full
            raise DataError(
                f"{shown_address(address)}: cannot be brought: {str(error) or type(error).__name__}. Try again."
            ) from error
        digest = hashlib.sha256()
        with temporary.open("rb") as stream:
            while piece := stream.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process brings the same files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        lock.acquire()
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()


def _key(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]


def _name(address: str) -> str:
    """Return the name of a file: the last part of its address, without what follows a question mark on the web."""
    path = urlsplit(address).path if address.startswith(("https:", "http:")) else address
    name = unquote(PurePosixPath(path).name)
    if not name or not name.isprintable() or "/" in name or "\\" in name or name in (".", ".."):
        raise DataError(f"{shown_address(address)}: its last part cannot be the name of a file.")
    return name


def _folder_name(address: str, marks: Mapping[str, str]) -> str:
    """Return the name of the folder of files, which is that of a language in some formats."""
    first = next(iter(marks), address)
    path = urlsplit(first).path if first.startswith(("https:", "http:")) else first.split("://", 1)[1]
    name = unquote(PurePosixPath(path).parent.name)
    return name if re.fullmatch(r"\w[\w.-]{0,99}", name) else "files"
