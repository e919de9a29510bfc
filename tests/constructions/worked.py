"""The worked example: five sentences, their targets, rules and the output of a parser."""

SENTENCES = {
    "a1": "The act having been passed in that year, Jessop withdrew, and Whitworth carried on with the assistance "
    "of his son",
    "v1": "He carried out the plan",
    "v2": "She looked up the word",
    "i1": "It is clear that he left",
    "i2": "it rained",
}
WORDS = {item: tuple(text.split()) for item, text in SENTENCES.items()}

GOLD = """\
# item phenomenon polarity head type dependent
a1	absol	1	having-2|been-3|passed-4	ARG	act-1
a1	absol	1	withdrew-9	MOD	having-2|been-3|passed-4
a1	absol	1	carried-12+on-13	MOD	having-2|been-3|passed-4
v1	vpart	1	carried-1+out-2	ARG2	plan-4
v1	vpart	0	out-2	!ARG2	plan-4
v2	vpart	1	looked-1+up-2	ARG2	word-4
v2	vpart	0	up-2	!ARG2	word-4
i1	itexpl	0	*	!ARG	it-0
i2	itexpl	0	*	!ARG	it-0
"""

RULES = r"""
absol   ARG    \(ncsubj {H} {D}( _)?\)
absol   MOD    \((xmod|cmod|ncmod) _ {H} {D}\)
vpart   ARG2   \(dobj {H} {D}\)
vpart   !ARG2  \(dobj {H} {D}\)
itexpl  !ARG   \((ncsubj|dobj|obj2) {H} {D} _\)
"""

GR = """\
# a1
(xmod _ Act_1 passed_4)
(ncsubj passed_4 Act_1 _)
(ncmod _ withdrew,_9 Jessop_8)
(dobj year,_7 withdrew,_9)
# v1
(ncsubj carried_1 He_0 _)
(ncmod prt carried_1 out_2)
(dobj carried_1 plan_4)
(det plan_4 the_3)
# v2
(ncsubj looked_1 She_0 _)
(dobj up_2 word_4)
(ncmod _ looked_1 up_2)
(det word_4 the_3)
# i1
(ncsubj is_1 It_0 _)
(xcomp _ is_1 clear_2)
(ccomp that_3 clear_2 left_5)
# i2
(ncsubj rained_1 it_0 expl)
"""

# The same analysis in Stanford's notation, positions from 1; for v2, the particle takes the object
STANFORD = """\
# a1
xmod(Act-2, passed-5)
nsubj(passed-5, Act-2)
ncmod(withdrew,-10, Jessop-9)
dobj(year,-8, withdrew,-10)
# v1
nsubj(carried-2, He-1)
prt(carried-2, out-3)
dobj(carried-2, plan-5)
det(plan-5, the-4)
# v2
nsubj(looked-2, She-1)
dobj(up-3, word-5)
ncmod(looked-2, up-3)
det(word-5, the-4)
# i1
nsubj(is-2, It-1)
xcomp(is-2, clear-3)
ccomp(clear-3, left-6)
# i2
expl(rained-2, it-1)
"""
STANFORD_RULES = r"""
absol   ARG    nsubj\({H}, {D}\)
absol   MOD    (xmod|cmod|ncmod)\({H}, {D}\)
vpart   ARG2   dobj\({H}, {D}\)
vpart   !ARG2  dobj\({H}, {D}\)
itexpl  !ARG   (nsubj|dobj|obj2)\({H}, {D}\)
"""

CORRECT = [True, False, False, True, True, False, False, False, True]  # of the nine targets, in the order of the file
