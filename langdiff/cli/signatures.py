"""Signatures and docstrings of the package's functions, read from their source: no help needs NumPy."""

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

_ROOT = Path(__file__).parents[2]
_SECTION = re.compile(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=\n\n\S[^\n]*\n---|\Z)", re.DOTALL | re.MULTILINE)
_ENTRY = re.compile(r"^(\S[^\n:]*?)(?: : [^\n]*)?\n((?:    [^\n]*(?:\n|\Z))+)", re.MULTILINE)
_END = re.compile(r"[.;:](?=\s|$)")
_QUOTED = re.compile(r"``\"?(.*?)\"?``|`(.*?)`")


class _Kind(NamedTuple):
    """One of the types that an annotation allows: what Typer is told, or None; many of them; classes of options."""

    one: Any
    many: bool = False
    classes: tuple[str, ...] = ()


_TABLE = _Kind("table")  # a frame, which a command reads from a file
_OBJECT = _Kind("object")  # of a class of the package, which cannot be typed
_OTHER = _Kind(None)
_UNTYPED = (None, "table", "object")
_NAMED = {"str": _Kind(str), "int": _Kind(int), "float": _Kind(float), "bool": _Kind(bool), "Path": _Kind(Path)}
_MANY = {"list", "Sequence", "Iterable", "Collection"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a public function, as a command can offer it.

    Attributes
    ----------
    name : str
        Its name in Python.
    kind : type or None
        What Typer is told, such as ``list[str]``; None if the value cannot be typed.
    default : object
        Default; ``...`` if it must be given.
    help : str
        First sentence of its description, in plain text.
    is_table : bool
        Whether the function wants a frame.
    classes : tuple of str
        Classes of options that the value may be, as ``"module:name"``.
    """

    name: str
    kind: Any
    default: Any
    help: str
    is_table: bool = False
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Signature:
    """What the source says of a function or of a class of options.

    Attributes
    ----------
    parameters : mapping from str to Parameter
        Parameters by name, or fields.
    offers : frozenset of str
        Names that the class of the result defines.
    """

    parameters: Mapping[str, Parameter]
    offers: frozenset[str] = frozenset()


@cache
def signature_of(function: str) -> Signature:
    """Return the signature of a public function, such as ``"langdiff.fit"``, or of a class, by module and name.

    Examples
    --------
    >>> signature_of("langdiff.simulate").parameters["missing"].default
    0.0
    """
    module, name = _locate(function)
    _, node = _module(module).find(name)
    if isinstance(node, ast.ClassDef):
        made = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
        if made is None:
            return Signature({one.name: one for one in _fields(_module(module), node)})
        _, *others = _arguments(_module(module), made, ast.get_docstring(node) or "")
        return Signature({one.name: one for one in others})
    if not isinstance(node, ast.FunctionDef):
        raise LookupError(f"{function}: no function or class in {module}.")
    found = _arguments(_module(module), node, ast.get_docstring(node) or "")
    return Signature({one.name: one for one in found}, _offers(_module(module), node.returns))


def _arguments(module: "_Module", node: ast.FunctionDef, doc: str) -> list[Parameter]:
    """Return the parameters of a function, described in a docstring, which of a method is that of its class."""
    given = node.args
    missing: list[ast.expr | None] = [None] * (len(given.args) - len(given.defaults))
    pairs = [*zip(given.args, [*missing, *given.defaults], strict=True)]
    pairs += zip(given.kwonlyargs, given.kw_defaults, strict=True)
    told = _described(doc)
    return [_parameter(module, one.arg, one.annotation, default, told) for one, default in pairs]


@cache
def summary_of(function: str) -> str:
    """Return the first sentence of a function's docstring, for which its file is searched, not parsed.

    Examples
    --------
    >>> summary_of("langdiff.read_surprisals")
    'Read a table of surprisals, saved by this package or made elsewhere.'
    """
    module, name = _locate(function)
    text = _module(module).text
    documented = re.split(rf"^def {name}\(", text, maxsplit=1, flags=re.MULTILINE)[1].split('"""', 2)[1]
    return plain(" ".join(documented.split("\n\n")[0].split()))


def plain(text: str, options: Iterable[str] = ()) -> str:
    """Return a sentence of a docstring without its markup; parameters become options.

    Examples
    --------
    >>> plain('Fit ``"2L"`` by `method`, a column of `intent_info`.', ["intent_info"])
    'Fit 2L by method, a column of --intent-info.'
    """

    def word(match: re.Match[str]) -> str:
        name = match[2]
        return match[1] if name is None else f"--{name.replace('_', '-')}" if name in options else name

    return _QUOTED.sub(word, text)


def _locate(function: str) -> tuple[str, str]:
    """Return the module that defines a function, and its name there, following stubs."""
    if ":" in function:
        module, _, name = function.partition(":")
        return module, name
    package, _, name = function.rpartition(".")
    while (stub := _ROOT.joinpath(*package.split("."), "__init__.pyi")).is_file():
        found = re.search(rf"^from \.([\w.]*) import (\w+) as {name}$", stub.read_text(encoding="utf-8"), re.MULTILINE)
        if found is None:
            break
        package, name = f"{package}.{found[1]}".removesuffix("."), found[2]
    return package, name


class _Module:
    """The names that a file defines or imports."""

    def __init__(self, name: str) -> None:
        self.name = name
        path = _ROOT.joinpath(*name.split("."))
        self.is_package = path.is_dir()
        self._file = path / "__init__.py" if self.is_package else path.with_suffix(".py")

    @cached_property
    def text(self) -> str:
        return self._file.read_text(encoding="utf-8") if self._file.is_file() else ""

    @cached_property
    def nodes(self) -> dict[str, ast.AST]:
        """Statements of the file by the names that they define or import."""
        return dict(_names(ast.parse(self.text).body))

    def classes(self, base: str) -> Iterator[tuple[str, ast.ClassDef]]:
        """Yield a class of the file and its subclasses there."""
        for name, node in self.nodes.items():
            if isinstance(node, ast.ClassDef) and (name == base or base in map(ast.unparse, node.bases)):
                yield name, node

    def find(self, name: str) -> tuple["_Module", ast.AST | None]:
        """Return the definition of a name and its module; None for names from outside the package."""
        node = self.nodes.get(name)
        if isinstance(node, ast.ImportFrom):
            base = self.name.split(".")
            base = base[: len(base) - node.level + self.is_package] if node.level else []
            package = ".".join([*base, *([node.module] if node.module else [])])
            if package.split(".")[0] != "langdiff":
                return self, None
            original = next(each.name for each in node.names if name in (each.asname, each.name))
            module, original = _locate(f"{package}.{original}")
            return _module(module).find(original)
        return self, node


@cache
def _module(name: str) -> _Module:
    return _Module(name)


def _names(body: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.ImportFrom(names=aliases):
                yield from ((alias.asname or alias.name, node) for alias in aliases)
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), body=inner):
                yield from _names(inner)


def _parameter(
    module: _Module, name: str, annotation: ast.AST | None, default: ast.expr | None, told: Mapping[str, str]
) -> Parameter:
    kinds = [_OTHER] if annotation is None else list(_kinds(module, annotation))
    kind = _chosen(kinds)
    is_table = kind is None and _TABLE in kinds
    classes = tuple(dict.fromkeys(each for one in kinds for each in one.classes))
    return Parameter(
        name,
        Path if is_table else kind,
        ... if default is None else _value(module, default),
        _sentence(plain(told.get(name, ""), told)),
        is_table,
        classes,
    )


def _kinds(module: _Module, node: ast.AST) -> Iterator[_Kind]:
    """Yield the types that an annotation allows; aliases are followed to where they are defined."""
    match node:
        case ast.Constant(value=str(text)):
            yield from _kinds(module, ast.parse(text, mode="eval").body)
        case ast.Constant(value=None):
            pass
        case ast.BinOp(left=left, right=right):
            yield from _kinds(module, left)
            yield from _kinds(module, right)
        case ast.Name(id=name):
            yield from _named(module, name)
        case ast.Attribute(attr="DataFrame"):
            yield _TABLE
        case ast.Subscript(value=ast.Name(id="Literal"), slice=choices):
            yield _Kind(Literal[tuple(_choices(module, choices))])
        case ast.Subscript(value=ast.Name(id=name), slice=inner) if name in _MANY:
            within = list(_kinds(module, inner))
            yield from (
                [_OTHER]
                if any(one.one in (None, "table") for one in within)
                else [one._replace(many=True) for one in within]
            )
        case _:
            yield _OTHER


def _named(module: _Module, name: str) -> Iterator[_Kind]:
    home, found = module.find(name)
    if name in _NAMED:
        yield _NAMED[name]
    elif isinstance(found, ast.ClassDef):
        yield _OBJECT._replace(classes=tuple(_option_classes(home, found)))
    elif isinstance(found, ast.expr):
        yield from _kinds(home, found)
    else:
        yield _OTHER


def _choices(module: _Module, node: ast.AST) -> Iterator[Any]:
    match node:
        case ast.Tuple(elts=elements):
            for element in elements:
                yield from _choices(module, element)
        case ast.Constant(value=value):
            yield value
        case ast.Subscript(slice=inner):
            yield from _choices(module, inner)
        case ast.Name(id=name):
            home, found = module.find(name)
            yield from _choices(home, found.slice) if isinstance(found, ast.Subscript) else ()


def _chosen(kinds: Iterable[_Kind]) -> Any:
    """Return the type that can be typed best: paths before other text, text before choices and numbers."""
    typed = [kind for kind in kinds if kind.one not in _UNTYPED]
    plainly = [kind.one for kind in typed]
    choices = [choice for one in plainly for choice in getattr(one, "__args__", ())]
    numbers = [one for one in (bool, float, int) if one in plainly]
    one: Any = next((one for one in (Path, str) if one in plainly), None)
    one = one or (Literal[tuple(dict.fromkeys(choices))] if choices else next(iter(numbers), None))
    return list[one] if one is not None and any(kind.many for kind in typed) else one


def _value(module: _Module, node: ast.expr) -> Any:
    """Return a default; None if only the function knows it."""
    match node:
        case ast.Name(id=name):
            home, found = module.find(name)
            return _value(home, found) if isinstance(found, ast.expr) else None
        case ast.Attribute(value=ast.Name(id="math"), attr=name):
            return getattr(math, name)
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _described(doc: str) -> dict[str, str]:
    """Return the descriptions of parameters, or of attributes, by name."""
    section = _SECTION.search(doc)
    found: dict[str, str] = {}
    for names, text in _ENTRY.findall(f"{section[1]}\n" if section else ""):
        found |= dict.fromkeys(names.replace("*", "").split(", "), " ".join(text.split()))
    return found


def _sentence(text: str) -> str:
    """Return a text up to the first end of a phrase, not within brackets; three words and a colon begin one."""
    places = (end.start() for end in _END.finditer(text) if end[0] != ":" or text.count(" ", 0, end.start()) > 2)
    ends = (place for place in places if text.count("(", 0, place) == text.count(")", 0, place))
    end = next(ends, None)
    phrase = (text if end is None else f"{text[:end]}.").removeprefix("Whether to ")
    return phrase[:1].upper() + phrase[1:]


def _fields(module: _Module, node: ast.ClassDef) -> Iterator[Parameter]:
    told = _described(ast.get_docstring(node) or "")
    for one in node.body:
        match one:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value) if "ClassVar" not in (
                ast.unparse(annotation)
            ):
                yield _parameter(module, name, annotation, value, told)


def _option_classes(module: _Module, node: ast.ClassDef) -> Iterator[str]:
    """Yield a class, and its heirs in the file, where all fields have defaults and none is a table."""
    for name, one in module.classes(node.name):
        fields = list(_fields(module, one)) if any("dataclass" in ast.unparse(d) for d in one.decorator_list) else []
        if fields and all(field.default is not ... and not field.is_table for field in fields):
            yield f"{module.name}:{name}"


def _offers(module: _Module, annotation: ast.AST | None) -> frozenset[str]:
    """Return the names that a class defines, those of its bases included."""
    if isinstance(annotation, ast.Constant):
        annotation = ast.parse(str(annotation.value), mode="eval").body
    if not isinstance(annotation, ast.Name):
        return frozenset()
    home, node = module.find(annotation.id)
    if not isinstance(node, ast.ClassDef):
        return frozenset()
    own = frozenset(name for name, _ in _names(node.body))
    return own.union(*(_offers(home, base) for base in node.bases))
