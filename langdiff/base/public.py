"""Public names of a package, which its stub lists: loaded when first used; a wrong one is told with the right one."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import lazy_loader

from langdiff.base.spelling import nearest

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
