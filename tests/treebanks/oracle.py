"""Slow, obviously right counting of the five metrics: sentence by sentence, word by word, with dictionaries."""

import math
from collections import Counter

NO, BOS, EOS = "_", "BOS", "EOS"


def children(tree, word):
    return [child for child, head in enumerate(tree.heads, start=1) if head == word]


def path(tree, word):
    """Words from below the root word down to `word`."""
    steps = []
    while tree.heads[word - 1]:
        steps.append(word)
        word = tree.heads[word - 1]
    return steps[::-1]


def leaves(tree):
    return [word for word in range(1, len(tree) + 1) if not children(tree, word)]


def size(trees, width=1.0):
    table = Counter()
    for tree in trees:
        depths = [len(path(tree, leaf)) for leaf in leaves(tree)]
        table[math.floor(sum(depths) / len(depths) / width + 0.5), len(tree)] += 1
    return table


def key(tree, word, ancestors=2, label="upos+deprel"):
    def name(other):
        upos, deprel = tree.upos[other - 1], tree.deprels[other - 1]
        return {"upos+deprel": f"{upos}/{deprel}", "upos": upos, "deprel": deprel}[label]

    def triple(other):
        if other == 0:
            return None
        head = tree.heads[other - 1]
        row = children(tree, head) if head else [other]
        place = row.index(other)
        left = name(row[place - 1]) if place else NO
        right = name(row[place + 1]) if place + 1 < len(row) else NO
        return left, name(other), right

    triples = []
    for _ in range(ancestors + 1):
        triples.append(triple(word))
        word = tree.heads[word - 1] if word else 0
    return tuple(triples)


def edge_probabilities(trees, learn=None, *, levels="separate", ancestors=2, label="upos+deprel"):
    """One mapping a tree: word below the root word → n / N."""
    learn = trees if learn is None else learn

    def cells(tree):
        for word, head in enumerate(tree.heads, start=1):
            if head:
                level = 0 if levels == "pooled" else len(path(tree, word))
                triples = key(tree, word, ancestors, label)
                yield word, (level, triples), (level, triples[1:]) if levels == "context" else level

    n, whole = Counter(), Counter()
    for tree in learn:
        for _, cell, total in cells(tree):
            n[cell] += 1
            whole[total] += 1
    return [{word: n[cell] / whole[total] if n[cell] else 0.0 for word, cell, total in cells(tree)} for tree in trees]


def depth_costs(trees, learn=None, **options):
    probabilities = edge_probabilities(trees, learn, **options)
    return [
        -math.log10(p) if (p := math.prod(of_edge[word] for word in path(tree, leaf))) else math.inf
        for tree, of_edge in zip(trees, probabilities, strict=True)
        for leaf in leaves(tree)
    ]


def matrices(trees, adjacent=False):
    table = Counter()
    for tree in trees:
        for word in range(len(tree) + 1):
            chain = [tree.deprels[child - 1] for child in children(tree, word)]
            if not chain:
                continue
            kind = tree.deprels[word - 1] if word else BOS
            full = [BOS, *chain]
            for b in range(1, len(full)):
                for earlier in full[b - 1 : b] if adjacent else dict.fromkeys(full[:b]):
                    table[kind, earlier, full[b]] += 1
            for last in full[-1:] if adjacent else chain:
                table[kind, last, EOS] += 1
    return table


def width_costs(trees, learn=None, by="columns"):
    table = matrices(trees if learn is None else learn)
    costs = []
    for tree in trees:
        for word in range(1, len(tree) + 1):
            chain = [tree.deprels[child - 1] for child in children(tree, word)]
            if chain:
                kind, last = tree.deprels[word - 1], chain[-1]
                cells = [
                    (table[kind, x, last], table[kind, BOS, last] if by == "columns" else table[kind, x, EOS])
                    for x in chain[:-1]
                ]
                p = math.prod(n / whole if n else 0.0 for n, whole in cells)
                costs.append(-math.log10(p) if p else math.inf)
    return costs


def lengths(trees):
    return Counter(len(row) for tree in trees for word in range(1, len(tree) + 1) if (row := children(tree, word)))


def binned(costs):
    return Counter(math.inf if math.isinf(cost) else math.floor(cost / 0.25 + 1e-9) for cost in costs)


def kullback_leibler(reference, compared, alpha=0.5):
    bins = set(reference) | set(compared)
    r = {b: reference.get(b, 0) + alpha for b in bins}
    c = {b: compared.get(b, 0) + alpha for b in bins}
    total = 0.0
    for b in bins:
        p, q = r[b] / sum(r.values()), c[b] / sum(c.values())
        if p:
            total += p * math.log(p / q) if q else math.inf
    return total
