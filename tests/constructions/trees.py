"""Sentences with their analyses, written for the tests: one of each phenomenon and some that only look like it."""

ROW = "{number}\t{form}\t{lemma}\t{upos}\t{xpos}\t{features}\t{head}\t{deprel}\t{deps}\t_"


def conllu(item, *words):
    """Return CoNLL-U of words "form lemma upos head deprel [Feature=x] [xpos=VBG] [deps=…] / …"."""
    rows = [f"# sent_id = {item}"]
    for number, word in enumerate(" / ".join(words).split(" / "), 1):
        form, lemma, upos, head, deprel, *rest = word.split()
        features = "|".join(part for part in rest if not part.startswith(("deps=", "xpos="))) or "_"
        extra = dict(part.split("=", 1) for part in rest if part.startswith(("deps=", "xpos=")))
        cells = {"form": form, "lemma": lemma, "upos": upos, "head": head, "deprel": deprel, "features": features}
        deps = (
            "|".join(sorted(f"{head}:{deprel};{extra['deps']}".split(";"))) if "deps" in extra else f"{head}:{deprel}"
        )
        rows.append(ROW.format(number=number, xpos=extra.get("xpos", "_"), deps=deps, **cells))
    return "\n".join(rows) + "\n\n"


BAREREL = conllu(
    "barerel",
    "The the DET 2 det / film film NOUN 5 nsubj deps=4:obj / she she PRON 4 nsubj PronType=Prs / "
    "made make VERB 2 acl:relcl VerbForm=Fin / won win VERB 0 root VerbForm=Fin",
)
RELATIVE = conllu(
    "relative",
    "The the DET 2 det / film film NOUN 6 nsubj deps=5:obj / that that PRON 5 obj PronType=Rel / "
    "she she PRON 5 nsubj PronType=Prs / made make VERB 2 acl:relcl VerbForm=Fin / won win VERB 0 root VerbForm=Fin",
)
TOUGH = conllu(
    "tough",
    "Greek Greek PROPN 3 nsubj / is be AUX 3 cop / hard hard ADJ 0 root / to to PART 5 mark / "
    "read read VERB 3 advcl VerbForm=Inf",
)
RNR = conllu(
    "rnr",
    "He he PRON 2 nsubj / wrote write VERB 0 root / and and CCONJ 4 cc / sang sing VERB 2 conj / songs song NOUN 2 obj",
)
ITEXPL = conllu(
    "itexpl",
    "It it PRON 3 expl / is be AUX 3 cop / clear clear ADJ 0 root / he he PRON 5 nsubj / left leave VERB 3 csubj",
)
ITOBJECT = conllu(
    "itobject",
    "They they PRON 2 nsubj / made make VERB 0 root / it it PRON 2 expl / possible possible ADJ 2 xcomp / "
    "to to PART 6 mark / vote vote VERB 2 csubj",
)
VPART = conllu(
    "vpart", "He he PRON 2 nsubj / carried carry VERB 0 root / out out ADP 2 compound:prt / plans plan NOUN 2 obj"
)
SPLIT = conllu(
    "split", "He he PRON 2 nsubj / carried carry VERB 0 root / plans plan NOUN 2 obj / out out ADP 2 compound:prt"
)
NED = conllu(
    "ned",
    "A a DET 5 det / red red ADJ 4 amod / - - PUNCT 4 punct / haired haired ADJ 5 amod / man man NOUN 6 nsubj / "
    "left leave VERB 0 root",
)
ABSOL = conllu(
    "absol",
    "Weather weather NOUN 2 nsubj / permitting permit VERB 5 advcl VerbForm=Part / , , PUNCT 2 punct / "
    "boats boat NOUN 5 nsubj / leave leave VERB 0 root VerbForm=Fin",
)
ADVERBIAL = conllu(
    "adverbial",
    "When when SCONJ 3 mark / weather weather NOUN 3 nsubj / permits permit VERB 6 advcl VerbForm=Fin / "
    ", , PUNCT 3 punct / boats boat NOUN 6 nsubj / leave leave VERB 0 root VerbForm=Fin",
)
VGER = conllu(
    "vger",
    "She she PRON 2 nsubj / likes like VERB 0 root VerbForm=Fin / reading read VERB 2 xcomp VerbForm=Ger xpos=VBG / "
    "novels novel NOUN 3 obj",
)
ARGADJ = conllu(
    "argadj",
    "She she PRON 2 nsubj / said say VERB 0 root / on on ADP 4 case / Monday Monday PROPN 2 obl / "
    "that that SCONJ 7 mark / he he PRON 7 nsubj / left leave VERB 2 ccomp",
)
CONTROL = conllu(
    "control",
    "She she PRON 2 nsubj / persuaded persuade VERB 0 root / him he PRON 2 obj deps=5:nsubj:xsubj / "
    "to to PART 5 mark / leave leave VERB 2 xcomp VerbForm=Inf",
)
SUBJECT = conllu(
    "subject",
    "She she PRON 2 nsubj deps=4:nsubj:xsubj / tried try VERB 0 root / to to PART 4 mark / "
    "leave leave VERB 2 xcomp VerbForm=Inf",
)
RAISING = SUBJECT.replace("subject", "raising", 1).replace("tried\ttry", "seemed\tseem")

FOUND = {
    "barerel": ["made-3 ARG2/MOD film-1; film-1 MOD made-3"],
    "tough": ["is-1|hard-2 ARG2:complement to-3|read-4; read-4 ARG2:gap Greek-0"],
    "rnr": ["wrote-1 ARG2:first songs-4; sang-3 ARG2:second songs-4"],
    "itexpl": ["* !ARG1 It-0"],
    "itobject": ["* !ARG2 it-2"],
    "vpart": ["out-2 !ARG2 plans-3; carried-1+out-2 ARG2 plans-3"],
    "ned": ["man-4 MOD haired-3; haired-3 ARG1/MOD red-1"],
    "absol": ["permitting-1 ARG1 Weather-0; leave-4 MOD permitting-1"],
    "vger": ["likes-1 ARG1/ARG2 reading-2; reading-2 ARG2/MOD novels-3"],
    "argadj": ["said-1 MOD on-2|Monday-3; said-1 ARG2/ARG3 that-4|left-6"],
    "control": ["persuaded-1 ARG2/ARG3 to-3|leave-4; leave-4 ARG1 him-2"],
    "subject": ["tried-1 ARG2/ARG3 to-2|leave-3; leave-3 ARG1 She-0"],
}
LOOKALIKES = RELATIVE + SPLIT + ADVERBIAL + RAISING
ALL = "".join([BAREREL, TOUGH, RNR, ITEXPL, ITOBJECT, VPART, NED, ABSOL, VGER, ARGADJ, CONTROL, SUBJECT, LOOKALIKES])
