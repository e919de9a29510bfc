"""Imports through the links at the root of a checkout, which give the modules of the package, not copies."""

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


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
