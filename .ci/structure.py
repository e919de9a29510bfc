"""Measure the structure of a checkout: python .ci/structure.py [CHECKOUT]; exit 1 if a goal is missed.

``--ratchet`` compares with the ceilings in ``.ci/ceilings.json`` instead of the goals (exit 1 if one is passed);
``--record`` lowers ceilings to what is measured. What work that is planned may add stands beside them, as allowances
with their reasons; delete one when its work is done. A ceiling may be raised by hand only if the worth of all ceilings
together (`WORTH`) does not grow: ``--ratchet`` compares it with that of the file in the last commit but one
(``--since REVISION`` for another), where there is one.
"""

import argparse
import ast
import io
import json
import re
import statistics
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from pathlib import Path

PACKAGE, AT_ROOT = "langdiff", {"", "__init__", "__main__", "errors"}  # files that may lie at the root
SECTIONS = {"compare", "goodness", "sample", "translationese", "predictors", "correlate", "parity"}
RECIPES = {"Recipe", "KneserNeyRecipe", "LanguageModelRecipe", "LanguageModel", "KneserNeyModel"}
OLD = {"cluster", "bootstrap", "k", "laplace_scale", "rounding", "correlate.unit", "difficulty_curve.sizes",
       "read_multitext.errors", "costep_statistics.errors", "intent_stability.sizes", "read_log_likelihoods.intents"}  # fmt: skip
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
CEILINGS = Path(".ci", "ceilings.json")
WORTH = {
    "code lines": 1,
    "test code lines": 0.25,
    "commands": 25,
    "option names": 3,
    "public names": 10,
    "package files": 5,
}
LEFTOVERS = re.compile(r"^_EARLIER|^_RENAMED|^RENAMED$|^_upgrade$|^earlier_versions$|^as_kept$")
SHARED = ("ROUNDING", "TOLERANCE", "FEWEST", "CELLS_AT_A_TIME")  # numbers that tune or judge, each defined in one place


def main(root: Path) -> dict[str, tuple[float, float]]:
    """Return measures and goals: the most that is allowed, or, negative, the least."""
    files = {name_of(path, root): path for path in sorted((root / PACKAGE).rglob("*.py"))}
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    code = [code_lines(text, trees[name]) for name, text in texts.items()]
    stubs = {name_of(path, root): stub(path, root) for path in (root / PACKAGE).rglob("__init__.pyi")}
    used, needed, folders = defaultdict(set), defaultdict(set), defaultdict(set)  # needed: not for type checkers only
    folder = {name: [*name.split("."), ""][1] for name in files}
    for name, tree in trees.items():
        for target, typing in imports(name, tree, files, stubs):
            used[name].add(target)
            if not typing:
                needed[name].add(target)
                if not {folder[name], folder[target]} & AT_ROOT and folder[name] != folder[target]:
                    folders[folder[name]].add(folder[target])
    importers = Counter(target for targets in used.values() for target in targets)
    docs = {id(doc) for tree in trees.values() for doc in docstrings(tree)}
    words = {name: [x for x in ast.walk(tree) if isinstance(x, ast.Constant)] for name, tree in trees.items()}
    said = {
        name: {x.value for x in found if isinstance(x.value, str) and id(x) not in docs}
        for name, found in words.items()
    }
    public, counted = public_functions(stubs, trees), [checks_and_results(tree) for tree in trees.values()]
    reach = {name: reached(name, needed) for name in files}
    tests = [path.read_text(encoding="utf-8") for path in sorted((root / "tests").rglob("*.py"))]
    rows = [line.split(" | ") for line in text_of(root / "tests" / "cli" / "help.txt").splitlines()[1:]]
    defined = Counter(name for tree in trees.values() for name in constants(tree))
    slow = {name for name, tree in trees.items() if loads(tree, "scipy.stats")}
    inner = sum(sectioned(tree, {name for of in stubs.values() for _, name in of.values()}) for tree in trees.values())
    cycles = {frozenset(b for b in reach[a] if a in reach[b]) for a in files} - {frozenset()}
    return {
        "package files": (len(files), 425),
        "code lines": (sum(code), 60_000),
        "median code lines per file": (statistics.median(lines for lines in code if lines > 3), -90),
        "files with one importer": (sum(importers[name] == 1 for name in files), 95),
        "arrows between files": (sum(map(len, used.values())), 2_600),
        "top-level packages": (len(set(folder.values()) - AT_ROOT), 17),
        "arrows between packages": (sum(map(len, folders.values())), 61),
        "layers of packages": (layers(set(folder.values()) - AT_ROOT, folders), 9),
        "import cycles of files": (len(cycles), 0),
        "loose files at the root": (
            sum(p.parent == root / PACKAGE and p.stem not in AT_ROOT for p in files.values()),
            0,
        ),
        "files reached from fit": (len(reach[stubs[PACKAGE]["fit"][0]]), 65),
        "files naming 2L or 2C": (sum(bool(found & {"2L", "2C"}) for found in said.values()), 3),
        "files naming beta-binomial": (sum("beta-binomial" in found for found in said.values()), 1),
        "isinstance on recipes": (sum(found[0] for found in counted), 0),
        "files naming 2+ sections": (sum(".run." in name and len(said[name] & SECTIONS) > 1 for name in said), 0),
        "results without Result": (sum(found[1] for found in counted), 0),
        "old names of parameters": (
            sum(bool({name, f"{f}.{name}"} & OLD) for (_, f), of in public.items() for name in of),
            0,
        ),
        "parameters of fit": (len(public[stubs[PACKAGE]["fit"]]), 12),
        "widest public function": (max(len(of) for (_, name), of in public.items() if name != "read_multitext"), 15),
        "test code lines": (sum(code_lines(text, ast.parse(text)) for text in tests), 43_500),
        "commands": (len({row[0] for row in rows if " " in row[0]}), 54),
        "option names": (len({row[1].split("/")[0] for row in rows if row[1].startswith("--")}), 215),
        "public names": (len({pair for of in stubs.values() for pair in of.values()}), 360),
        "inner docstrings, sections": (inner, 60),
        "leftovers of earlier names": (sum(leftovers(tree) for tree in trees.values()), 0),
        "shared numbers, definitions": (sum(defined[name] for name in SHARED), 8),
        "scipy.stats on the way to fit": (
            len(slow & ({stubs[PACKAGE]["fit"][0]} | reach[stubs[PACKAGE]["fit"][0]])),
            0,
        ),
        "torch at the top outside lm": (
            sum(
                loads(tree, "torch") and not name.startswith(f"{PACKAGE}.lm.")
                for name, tree in trees.items()
                if ".taggers." not in name
            ),
            0,
        ),
        "seeds to be given": (sum(of.get("seed") in ("", "None") for of in public.values()), 0),
    }


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def constants(tree: ast.Module) -> list[str]:
    """Return the names in capitals that a module gives a value."""
    nodes = [node for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))]
    targets = [target for node in nodes for target in (node.targets if isinstance(node, ast.Assign) else [node.target])]
    return [
        target.id.lstrip("_") for target in targets if isinstance(target, ast.Name) and target.id.lstrip("_").isupper()
    ]


def loads(tree: ast.Module, package: str) -> bool:
    """Return whether a module imports a package when it is loaded."""
    names = [alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names]
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return any(name == package or name.startswith(f"{package}.") for name in names)


def leftovers(tree: ast.Module) -> int:
    """Count what serves names and files of versions that were never released."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, (ast.Assign, ast.AnnAssign))]
    names = [ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target) for node in assigned]
    of_settings = [
        node for node in assigned if isinstance(node, ast.AnnAssign) and "ClassVar" in ast.unparse(node.annotation)
    ]
    decorated = sum(ast.unparse(node.target) == "renamed" for node in of_settings)
    defined = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    names += [node.name for node in defined]
    decorated += sum(ast.unparse(each).startswith("renamed(") for node in defined for each in node.decorator_list)
    return decorated + sum(bool(LEFTOVERS.match(name)) for name in names)


def sectioned(tree: ast.Module, public: set[str]) -> int:
    """Count inner functions, tests of shapes excepted, whose docstrings list parameters, results or errors."""
    found = 0

    def visit(node: ast.AST, shown: bool) -> None:
        nonlocal found
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.ClassDef, *FUNCTIONS)):
                here = (shown or child.name in public) and not (child.name.startswith("_") and child.name[:2] != "__")
                doc = ast.get_docstring(child) or ""
                if (
                    isinstance(child, FUNCTIONS)
                    and not here
                    and re.search(r"^(Parameters|Returns|Yields|Raises)\n-+$", doc, re.M)
                ):
                    found += "ndarray, shape" not in doc  # kernels keep the shapes of their arrays
                visit(child, here)

    visit(tree, False)
    return found


def ratchet(root: Path, measured: dict, since: str, *, record: bool) -> int:
    """Compare with the recorded ceilings, or lower them; return the exit code."""
    path = root / CEILINGS
    kept = json.loads(text_of(path) or '{"ceilings": {}, "allowances": {}}')
    old = kept["ceilings"]
    if record:
        rising = {what for what, (_, goal) in measured.items() if goal < 0}
        kept["ceilings"] = {
            what: (max if what in rising else min)(value, old.get(what, value)) for what, (value, _) in measured.items()
        }
        path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        return 0
    most = ceilings(kept)
    passed = [
        what
        for what, (value, goal) in measured.items()
        if what in old and (value > most[what] if goal >= 0 else value < most[what])
    ]
    for what in passed:
        print(
            f"{what}: {measured[what][0]:,.0f}, ceiling {most[what]:,.0f} in {CEILINGS}: take as much away elsewhere."
        )
    shown = subprocess.run(
        ["git", "show", f"{since}:{CEILINGS.as_posix()}"], cwd=root, capture_output=True, text=True, check=False
    )
    before = ceilings(json.loads(shown.stdout)) if shown.returncode == 0 else {}
    worth = [
        sum(each * of.get(what, 0) for what, each in WORTH.items() if what in before and what in most)
        for of in (before, most)
    ]
    if worth[1] > worth[0]:
        print(
            f"{CEILINGS}: ceilings together are worth {worth[1]:,.0f}, {worth[0]:,.0f} in {since}: lower another by as much."
        )
    if not old:
        print(f"{path} is missing: write it with --record.")
    return int(bool(passed) or worth[1] > worth[0] or not old)


def ceilings(kept: dict) -> dict[str, float]:
    """Return the ceilings with what planned work may add to them."""
    return {what: most + sum(kept["allowances"].get(what, {}).values()) for what, most in kept["ceilings"].items()}


def name_of(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def docstrings(tree: ast.Module) -> list[ast.Constant]:
    holders = [
        node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and node.body
    ]
    values = [node.body[0].value for node in holders if isinstance(node.body[0], ast.Expr)]
    return [value for value in values if isinstance(value, ast.Constant) and isinstance(value.value, str)]


def code_lines(text: str, tree: ast.Module) -> int:
    layout = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = [each for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type not in layout]
    lines = {line for each in tokens for line in range(each.start[0], each.end[0] + 1)}
    return len(lines - {line for doc in docstrings(tree) for line in range(doc.lineno, doc.end_lineno + 1)})


def stub(path: Path, root: Path) -> dict[str, tuple[str, str]]:
    """Return the module of each public name of a stub, and its name there."""
    lines = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    homes = [f"{name_of(path, root)}.{node.module or ''}".strip(".") if node.level else node.module for node in lines]
    return {x.asname or x.name: (where, x.name) for node, where in zip(lines, homes, strict=True) for x in node.names}


def imports(name: str, tree: ast.Module, files: dict, stubs: dict) -> set[tuple[str, bool]]:
    """Return the files a file imports, public names by their home, and whether for type checkers only."""
    guarded = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    typing, found = {id(each) for node in guarded for each in ast.walk(node)}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            found |= {(home(node.module, alias.name, files, stubs), id(node) in typing) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {(alias.name, id(node) in typing) for alias in node.names if alias.name != PACKAGE}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ld":
            found.add((home(PACKAGE, node.attr, files, stubs), False))
    return {(target, only) for target, only in found if target in files and target not in (name, PACKAGE)}


def home(module: str, name: str, files: dict, stubs: dict) -> str:
    inner, there = stubs.get(module, {}).get(name, (module, name))
    return (
        here
        if (here := f"{module}.{name}") in files
        else module
        if inner == module
        else home(inner, there, files, stubs)
    )


def reached(start: str, arrows: dict[str, set[str]]) -> set[str]:
    found, todo = set(), [start]
    while todo:
        new = arrows.get(todo.pop(), set()) - found
        found, todo = found | new, [*todo, *new]
    return found


def layers(names: set[str], arrows: dict[str, set[str]]) -> int:
    height = dict.fromkeys(names, 0)
    for _ in range(len(names) + 1):  # grows past the number of packages in a cycle
        height = {name: 1 + max((height[below] for below in arrows.get(name, ())), default=0) for name in names}
    return max(height.values())


def public_functions(stubs: dict, trees: dict) -> dict[tuple[str, str], dict[str, str]]:
    wanted, found = {pair for names in stubs.values() for pair in names.values()}, {}
    for module, node in ((module, node) for module, tree in trees.items() for node in tree.body):
        if isinstance(node, FUNCTIONS) and (module, node.name) in wanted:
            plain = [*node.args.posonlyargs, *node.args.args]
            defaults = [None] * (len(plain) - len(node.args.defaults)) + node.args.defaults + node.args.kw_defaults
            pairs = zip([*plain, *node.args.kwonlyargs], defaults, strict=True)
            found[module, node.name] = {arg.arg: "" if value is None else ast.unparse(value) for arg, value in pairs}
    return found


def checks_and_results(tree: ast.Module) -> tuple[int, int]:
    """Count isinstance with recipes, and classes with a table and a summary of their own without the base Result."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"]
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    own = [{x.name for x in each.body if isinstance(x, FUNCTIONS)} for each in classes]
    based = [any(ast.unparse(base).endswith("Result") for base in each.bases) for each in classes]
    checks = sum(bool({x.id for x in ast.walk(call.args[1]) if isinstance(x, ast.Name)} & RECIPES) for call in calls)
    return checks, sum({"to_frame", "summary"} <= has and not base for has, base in zip(own, based, strict=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", nargs="?", type=Path, default=Path())
    parser.add_argument("--ratchet", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--since", default="HEAD~1")
    given = parser.parse_args()
    measured = main(given.checkout)
    if given.ratchet or given.record:
        sys.exit(ratchet(given.checkout, measured, given.since, record=given.record))
    missed = {what for what, (value, goal) in measured.items() if (value > goal if goal >= 0 else value < -goal)}
    for what, (value, goal) in measured.items():
        print(
            f"{what:31}{value:>9,.0f}   goal {'≥' if goal < 0 else '≤'} {abs(goal):>6,}{'   missed' * (what in missed)}"
        )
    sys.exit(bool(missed))
