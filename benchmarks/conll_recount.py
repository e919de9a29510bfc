"""Recall of the parsers of CoNLL 2018, counted from columns ID, FORM, HEAD and DEPREL without langdiff.

    python benchmarks/conll_recount.py REPOSITORY [DATA]

REPOSITORY is a clone of github.com/pkolachi/depparse-conll-data, DATA has `pud/en_pud.conllu.gz` (LANGDIFF_DATA).
Prints recall of parsers by treebanks, with that of `conll_parsers.csv`, and how many answers differ.
"""

import csv
import gzip
import os
import re
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parent.parent / "langdiff" / "datasets"
ANY = r"(?::\S+)?"  # subtypes
OBJECTS, CLAUSES = "obj|obl|ccomp|xcomp", "advcl|xcomp|ccomp|csubj|acl"
RULES = {
    "barerel MOD": f"(acl){ANY}", "tough ARG2:complement": f"({CLAUSES}){ANY}", "rnr ARG2:first": f"(obj|nmod){ANY}",
    "itexpl !ARG": f"(nsubj|obj){ANY}", "vpart ARG2": "obj", "vpart !ARG2": f"(obj|obl|nmod){ANY}", "ned MOD": "amod",
    "ned ARG1/MOD": f"(amod|compound|advmod|nummod|nmod|obl){ANY}", "absol ARG1": f"(nsubj){ANY}",
    "absol MOD": f"(advcl){ANY}", "vger ARG1/ARG2": f"({CLAUSES}|obj|nsubj|obl|nmod){ANY}",
    "control ARG2/ARG3": "xcomp",
    "vger ARG2/MOD": f"({OBJECTS}|iobj|advmod){ANY}", "argadj MOD": f"(obl|advmod|advcl){ANY}",
    "argadj ARG2/ARG3": f"({OBJECTS}){ANY}",
}  # fmt: skip


def read(text):
    """Return the text without spaces, words (first, last character, number of the head, relation), and sentences."""
    letters, words, sentences = "", [], {}
    for block in text.strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line and line[0] != "#"]
        name, base, end, whole = re.search(r"# sent_id = (.*)", block), len(words), 0, None
        forms = {row[0]: row[1].replace(" ", "").replace("\u00a0", "") for row in rows}
        begin = len(letters)
        for row in rows:
            if "-" in row[0]:
                first, end = map(int, row[0].split("-"))
                whole = (len(letters), len(letters) + len(forms[row[0]]))
                if "".join(forms[str(n)] for n in range(first, end + 1)) == forms[row[0]]:
                    whole = None
                else:
                    letters += forms[row[0]]
            elif row[0].isdigit():
                inside = whole if int(row[0]) <= end else None
                place = inside or (len(letters), len(letters) + len(forms[row[0]]))
                letters += "" if inside else forms[row[0]]
                words.append((*place, base + int(row[6]) - 1 if row[6] != "0" else -1, row[7]))
        if name:
            sentences[name[1].strip()] = (letters[begin:], [forms[row[0]] for row in rows if row[0].isdigit()])
    return letters, words, sentences


def is_right(target, own, words):
    """Say whether a parser has a target in a sentence, of whose words `own` are the numbers of the parser's words."""
    nodes = [
        None if cell == "*" else [w for part in cell.split("|") for w in own[int(part.split("+")[0])]]
        for cell in (target["head"], target["dependent"])
    ]
    code, rule = target["construction"], re.compile(RULES[f"{target['construction']} {target['type']}"])
    found = any(rule.fullmatch(words[d][3]) and words[d][2] in (nodes[0] or range(len(words))) for d in nodes[1])
    if code == "vpart" and target["type"] == "!ARG2":  # the particle is the preposition of the object
        found |= any(words[h][3] == "case" and words[h][2] in nodes[1] for h in nodes[0])
    if code == "tough":
        nouns = {words[h][2] for h in nodes[0] if words[h][3] == "amod"}
        found |= any(words[d][2] in nouns and words[d][3].split(":")[0] == "acl" for d in nodes[1])
    return found == (target["polarity"] == "1")


def answers(targets, gold, output):
    letters, words, _ = read(output)
    places, place = {}, 0
    for name, (_, forms) in gold.items():
        text = "".join(forms)
        found = letters.find(text, place)
        if 0 <= found <= place + 2000:
            places[name], place = (found, found + len(text)), found + len(text)
    for target in targets:
        first, last = places.get(target["sentence"], (0, 0))
        inside = [n for n, word in enumerate(words) if word[0] < last and word[1] > first]
        whole = inside and all(first <= words[n][0] and words[n][1] <= last for n in inside)
        own, at = [], first
        for form in gold[target["sentence"]][1]:
            own.append([n for n in inside if words[n][0] < at + len(form) and words[n][1] > at])
            at += len(form)
        yield bool(whole) and is_right(target, own, words)


def main(repository, data):
    def show(blob):
        return subprocess.run(
            ["git", "-C", repository, "cat-file", "blob", blob], check=True, capture_output=True
        ).stdout

    with (DATA / "conll_parsers.csv").open(encoding="utf-8") as stream:
        targets = list(csv.DictReader(stream))
    with (DATA / "conll_parsers_systems.csv").open(encoding="utf-8") as stream:
        systems = list(csv.DictReader(stream))
    unlike = number = 0
    for bank in ("en_pud", "en_ewt", "en_gum"):
        gold = next(row["blob"] for row in systems if row["treebank"] == bank and row["system"].startswith("00-gold"))
        file = Path(data) / "pud/en_pud.conllu.gz"
        text = gzip.decompress(file.read_bytes()) if bank == "en_pud" else show(gold)
        sentences = read(text.decode())[2]
        own = [target for target in targets if target["treebank"] == bank]
        for row in systems:
            if row["treebank"] == bank and row["year"] == "2018" and row["las"]:
                here = list(answers(own, sentences, show(row["blob"]).decode()))
                there = [target[row["system"]] == "1" for target in own]
                apart = sum(a != b for a, b in zip(here, there, strict=True))
                unlike, number = unlike + apart, number + len(own)
                print(f"{bank} {row['system']:16} {sum(here) / len(own):.4f} {sum(there) / len(own):.4f} {apart}")
    print(f"{number - unlike:,} of {number:,} answers are the same")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.environ.get("LANGDIFF_DATA", "../shared/data"))
