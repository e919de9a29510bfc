"""Public names and links of a package: loaded when first used; a wrong name is told with the right one."""

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import lazy_loader

from langdiff.base.types import naming_extra

MISTAKES = 2  # letters that may be wrong, missing, added or in the other order
_ROOT = Path(__file__).parents[1]


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package with a stub, as `lazy_loader.attach_stub` does.

    The error for a name that the package does not have gives the package that has it, or the name that is most alike.

    Examples
    --------
    >>> import langdiff as ld
    >>> ld.propagate_errors
    Traceback (most recent call last):
    ...
    AttributeError: langdiff has no 'propagate_errors'; did you mean ld.typology.propagate_errors?
    """
    find, listed, names = lazy_loader.attach_stub(package, file)

    def get(name: str) -> Any:
        try:
            with naming_extra(f"{package}.{name}"):
                return find(name)
        except AttributeError:
            if name in names or name.startswith("_"):
                raise
            hint = f"; did you mean {found}?" if (found := _meant(package, name)) else "."
            raise AttributeError(f"{package} has no {name!r}{hint}") from None

    return get, listed, names


def _meant(package: str, name: str) -> str | None:
    """Return where a name is, or the name that is spelt most like it, of this package before others."""
    public = dict(sorted(_public(), key=lambda one: one[0] != package.removeprefix("langdiff").lstrip(".")))
    for where, names in public.items():
        if name in names:
            return ".".join(filter(None, ("ld", where, name)))
    for where, names in public.items():
        if (near := nearest(name, names)) is not None:
            return ".".join(filter(None, ("ld", where, near)))
    return None


def _public() -> Iterator[tuple[str, list[str]]]:
    """Yield the packages, the whole as an empty name, and the public names of each."""
    for stub in (_ROOT / "__init__.pyi", *sorted(_ROOT.glob("*/__init__.pyi"))):
        where = "" if stub.parent == _ROOT else stub.parent.name
        names = re.findall(r"^from \.[\w.]* import (?:\w+ as )?(\w+)$", stub.read_text(encoding="utf-8"), re.MULTILINE)
        yield where, names


def edit_distance(left: str, right: str) -> int:
    """Return the number of letters that are changed, added, left out or swapped with the next (Damerau–Levenshtein).

    No letter is edited twice (optimal string alignment).

    Examples
    --------
    >>> edit_distance("tabel", "table"), edit_distance("scroe", "spread")
    (1, 4)
    """
    before: list[int] = []
    last = list(range(len(right) + 1))
    for row, letter in enumerate(left, start=1):
        now = [row]
        for column, other in enumerate(right, start=1):
            cost = min(last[column] + 1, now[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1]


def nearest(name: str, known: Iterable[str], most: int = MISTAKES) -> str | None:
    """Return the known name with the fewest mistakes, of these the first; None if all have more than `most`.

    More mistakes than a third of the letters are another word, but one mistake is always allowed.

    Examples
    --------
    >>> nearest("tabel", ["table", "train"]), nearest("etable", ["fit", "clean"])
    ('table', None)
    """
    most = min(most, max(1, len(name) // 3))
    found = [(edit_distance(name, other), place, other) for place, other in enumerate(known)]
    distance, _, other = min(found, default=(most + 1, 0, ""))
    return other if distance <= most else None


class _Linked(MetaPathFinder, Loader):
    """Importer that finds ``lm.scoring`` as ``langdiff.lm.scoring``, the same object."""

    def __init__(self, link: str) -> None:
        self.link = link

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for modules below the link; None for others."""
        del path, target
        return ModuleSpec(fullname, self) if fullname.startswith(f"{self.link}.") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of the package, imported under its own name."""
        module = importlib.import_module(f"langdiff.{spec.name}")
        spec.loader_state = module.__spec__  # which the import system is about to replace
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the module's own spec; the module was executed when it was imported."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state


def use_package(link: str) -> None:
    """Register a link at the root of a checkout as a name for the package inside langdiff."""
    sys.meta_path.insert(0, _Linked(link))
    sys.modules[link] = importlib.import_module(f"langdiff.{link}")
