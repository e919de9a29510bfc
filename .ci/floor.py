"""Check that one place makes intervals: python .ci/floor.py [CHECKOUT]; exit 1 where another file makes an end or a p.

What makes an end of an interval or a p-value of an estimate is in `FLOOR`; `EXEMPT` makes other quantiles, for the
reason beside it. Elsewhere nothing calls a distribution, its quantile, or a test of another library; no quantile but
the median is taken; no `low`, `high` or `p` is a sum, a difference, or a share of draws; no error is multiplied and
then added; and no number of clusters, documents or units is few.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

FLOOR = {"tables/rule.py", "tables/simultaneous.py"}
EXEMPT = {
    "constructions/scores.py": "exact tests of counts",
    "corpora/alignment/lengths.py": "normal scores",
    "corpora/synthetic/result.py": "spread of what was drawn",
    "experiments/claims.py": "exact binomials",
    "parallelism/agreement.py": "published interval, labelled as such",
    "parallelism/splitting.py": "published test of Welch",
    "parallelism/statistics.py": "Friedman and Nemenyi",
    "parity/result.py": "mean of a folded normal",
    "plots/curves.py": "spread over editions",
    "plots/forest.py": "quantiles of a posterior",
    "plots/residuals.py": "quartiles of residuals",
    "regression/clustering.py": "the finder of units",
    "regression/components/numbers.py": "power",
    "regression/components/outliers.py": "limits of outliers",
    "regression/components/shares.py": "power",
    "regression/components/short_forms.py": "spread of random forms",
    "regression/kernel/cells.py": "start of a search",
    "regression/kernel/clusters.py": "cost of eigenvalues",
    "regression/kernel/likelihood.py": "start of a search",
    "regression/outcomes/chance.py": "exact binomials",
    "regression/outcomes/faults.py": "exact tests of counts",
    "regression/outcomes/runs.py": "exact tests of counts",
    "regression/simulation.py": "normal scores",
    "regression/variants/blunders.py": "quantiles of a variant",
    "regression/variants/laplace.py": "quantiles of a variant",
    "regression/variants/normal.py": "quantiles of a variant",
    "run/report.py": "share of residuals",
    "typology/association/correlation.py": "tests of ranks, bootstrap over languages, power",
}
LAW = {"ppf", "isf", "sf", "logsf", "cdf", "logcdf"}
SPECIAL = re.compile(r"^((st|ch|f|b|n|btd|log_n)dtr(c|i|it)?|(betainc|gammaincc?)(inv)?|erfc?(inv)?)$")  # scipy.special
TESTS = re.compile(r"^(ttest_\w+|wilcoxon|mannwhitneyu|kruskal|median_test|friedmanchisquare|binomtest|fisher_exact)$")
ALREADY = {"pvalue", "pvalues", "f_pvalue", "conf_int", "confidence_interval"}  # of results of other libraries
QUANTILE = {"quantile", "percentile", "nanquantile", "nanpercentile"}
END = re.compile(r"^(low|high)$|_(low|high)$")
P = re.compile(r"^(p|p_value|p_\w+)$|_p$")
ERROR = re.compile(r"(^|_)(errors?|se|sem|std_err)$")
UNEQUAL = ast.Gt | ast.GtE | ast.Lt | ast.LtE
DRAWS = re.compile(r"draws|samples|permutations|flips|resamples")
THRESHOLD = re.compile(r"^_?(FEW|FEWEST|ENOUGH)_(CLUSTERS|DOCUMENTS|UNITS)$")


def name_of(node: ast.AST) -> str:
    """Return the last name of an expression: of a call what is called, of an index a text."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.Constant(value=str(name)):
            return name
        case ast.Call(func=inner) | ast.Subscript(slice=ast.Constant() as inner):
            return name_of(inner)
    return ""


def named(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield names with the values that they get here."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            yield from zip(map(name_of, targets), values, strict=False)
        case ast.Assign(targets=[target], value=value) | ast.AnnAssign(target=target, value=ast.expr() as value):
            yield name_of(target), value
        case ast.Dict(keys=keys, values=values):
            yield from ((name_of(key), value) for key, value in zip(keys, values, strict=True) if key)
        case ast.Call(keywords=keywords):
            yield from ((word.arg or "", word.value) for word in keywords)


def by_hand(name: str, value: ast.expr) -> bool:
    """Return whether an end is made here as a sum or a difference, or a p as a share of draws."""
    match value:
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=right) if END.search(name):
            return not any(isinstance(side, ast.Constant) for side in (left, right))
    inside = list(ast.walk(value)) if P.search(name) else []
    compared = any(isinstance(node, ast.Compare) and isinstance(node.ops[0], UNEQUAL) for node in inside)
    return compared and any(name_of(node) in ("mean", "sum") for node in inside)


def has(node: ast.expr, of: type[ast.operator], one: Callable[[ast.expr], bool]) -> bool:
    """Return whether a node is an operation with a side that fulfils a condition."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, of) and (one(node.left) or one(node.right))


def is_error(node: ast.expr) -> bool:
    """Return whether a node is called an error."""
    return bool(ERROR.search(name_of(node)))


def is_one(node: ast.expr) -> bool:
    """Return whether a node is 1."""
    return isinstance(node, ast.Constant) and node.value == 1


def is_number_of_draws(node: ast.expr) -> bool:
    """Return whether a node is called a number of draws."""
    return bool(DRAWS.search(name_of(node).lower()))


def called(name: str, args: list[ast.expr]) -> str:
    """Return a function that only the floor may call; empty if all may."""
    if name in QUANTILE:
        return "" if any(isinstance(one, ast.Constant) and one.value in (0.5, 50) for one in args) else name
    return name if name in LAW or SPECIAL.match(name) or TESTS.match(name) else ""


def fault(node: ast.AST) -> str:
    """Return what a node makes that only the floor may make; empty if nothing."""
    match node:
        case ast.Call(args=args) if found := called(name_of(node), args):
            return found
        case ast.Attribute(attr=name) if name in ALREADY:
            return name
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=one, right=two) if any(
            has(of, ast.Mult, is_error) for of in (one, two)
        ):
            return "a multiple of an error is added"
        case ast.BinOp(op=ast.Div(), right=two) if has(two, ast.Add, is_one) and has(two, ast.Add, is_number_of_draws):
            return "a share of draws"
        case ast.Constant(value=float(value)) if abs(value - 1.96) < 1e-3:
            return "1.96"
        case ast.Assign(targets=[target]) if THRESHOLD.match(name_of(target)):
            return "a threshold of few units"
    return next((f"{end} by hand" for end, value in named(node) if by_hand(end, value)), "")


def main(root: Path) -> int:
    """Print what other files than the floor do, and what the lists name without need; return how many."""
    wrong, needed = [], set()
    for path in sorted((root / "langdiff").rglob("*.py")):
        name = path.relative_to(root / "langdiff").as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if what := fault(node):
                needed.add(name)
                if name not in FLOOR | EXEMPT.keys():
                    wrong.append(f"langdiff/{name}:{getattr(node, 'lineno', 0)}: {what}; use langdiff.tables.rule")
    wrong += [f"langdiff/{name}: makes no quantile: delete it from EXEMPT" for name in EXEMPT.keys() - needed]
    print("\n".join(wrong) or "intervals come from one place")  # noqa: T201
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1])))
