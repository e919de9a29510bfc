"""Check that one place makes intervals: python .ci/floor.py [CHECKOUT]; exit 1 where another file makes an end or a p.

What makes an end of an interval or a p-value of an estimate is in `FLOOR`; `EXEMPT` makes other quantiles, for the
reason beside it. Elsewhere there is no ``ppf`` or ``isf``, no ``sf`` of t, F or χ², no 1.96, no quantile at 2.5 or
97.5 %, and no number of clusters, documents or units that is few.
"""

import ast
import re
import sys
from pathlib import Path

FLOOR = {"tables/rule.py", "tables/simultaneous.py"}
EXEMPT = {
    "experiments/native_and_translated.py": "power of a plan",
    "parallelism/agreement.py": "published interval, labelled as such",
    "parallelism/statistics.py": "Friedman and Nemenyi",
    "regression/components/numbers.py": "power",
    "regression/components/outliers.py": "limits of outliers",
    "regression/kernel/integrated/comparisons.py": "likelihood ratio",
    "regression/kernel/likelihood.py": "start of a search",
    "regression/outcomes/chance.py": "exact binomials and profile likelihoods",
    "regression/outcomes/inference.py": "likelihood ratios",
    "regression/stan/draws.py": "quantiles of a posterior",
    "regression/variants/laplace.py": "quantiles of a variant",
    "run/report.py": "share of residuals",
    "regression/clustering.py": "the finder of units",
    "regression/kernel/clusters.py": "cost of eigenvalues",
    "typology/association/variance.py": "profile likelihood",
}
LAWS = {"t", "f", "chi2", "student", "fisher"}
OF_SPECIAL = {"stdtr", "stdtrit", "chdtrc", "chdtri", "fdtrc", "fdtri"}  # the same laws in scipy.special
TAILS = {0.025, 0.975, 2.5, 97.5}
THRESHOLD = re.compile(r"^_?(FEW|FEWEST|ENOUGH)_(CLUSTERS|DOCUMENTS|UNITS)$")


def faults(tree: ast.Module) -> list[tuple[int, str]]:
    """Return lines that make an end of an interval, a p-value or a threshold of few units, and what they do."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, of = node.func.attr, node.func.value
            law = of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", "")
            numbers = {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, float)}
            named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            if name in ("ppf", "isf"):
                found.append((node.lineno, f"{law}.{name}"))
            elif name == "sf" and law in LAWS:
                found.append((node.lineno, f"{law}.sf"))
            elif name in ("quantile", "percentile", "nanquantile", "nanpercentile") and (
                numbers & TAILS or any("TAIL" in part for part in named)
            ):
                found.append((node.lineno, f"{name} of tails"))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in OF_SPECIAL:
            found.append((node.lineno, node.func.id))
        elif isinstance(node, ast.Constant) and isinstance(node.value, float) and abs(node.value - 1.96) < 1e-3:
            found.append((node.lineno, "1.96"))
        elif isinstance(node, ast.Assign) and THRESHOLD.match(getattr(node.targets[0], "id", "")):
            found.append((node.lineno, "a threshold of few units"))
    return found


def main(root: Path) -> int:
    """Print what other files than the floor do, and what the lists name without need; return how many."""
    wrong, needed = [], set()
    for path in sorted((root / "langdiff").rglob("*.py")):
        name = path.relative_to(root / "langdiff").as_posix()
        for line, what in faults(ast.parse(path.read_text(encoding="utf-8"))):
            needed.add(name)
            if name not in FLOOR | EXEMPT.keys():
                wrong.append(f"langdiff/{name}:{line}: {what}; use langdiff.tables.rule")
    wrong += [f"langdiff/{name}: makes no quantile: delete it from EXEMPT" for name in EXEMPT.keys() - needed]
    print("\n".join(wrong) or "intervals come from one place")  # noqa: T201
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1])))
