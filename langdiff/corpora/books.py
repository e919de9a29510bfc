"""The books of Bibles: their codes in USFM, and their numbers in verse ids."""

# In the order of Paratext, which the Parallel Bible Corpus and eBible follow: 1 is Genesis, 66 the Revelation.
_NUMBERED = (
    "GEN EXO LEV NUM DEU JOS JDG RUT 1SA 2SA 1KI 2KI 1CH 2CH EZR NEH EST JOB PSA PRO ECC SNG ISA JER LAM EZK "
    "DAN HOS JOL AMO OBA JON MIC NAM HAB ZEP HAG ZEC MAL MAT MRK LUK JHN ACT ROM 1CO 2CO GAL EPH PHP COL 1TH "
    "2TH 1TI 2TI TIT PHM HEB JAS 1PE 2PE 1JN 2JN 3JN JUD REV "
    "TOB JDT ESG WIS SIR BAR LJE S3Y SUS BEL 1MA 2MA 3MA 4MA 1ES 2ES MAN PS2 ODA PSS"
)
# Front matter and books of few canons, which have no number of two digits.
_OTHER = (
    "FRT BAK OTH INT CNC GLO TDX NDX XXA XXB XXC XXD XXE XXF XXG DAG LAO EZA 5EZ 6EZ 3ES PS3 2BA LBA JUB ENO "
    "1MQ 2MQ 3MQ REP 4BA JSA JDB TBS SST DNT BLT"
)
BOOKS = tuple(_NUMBERED.split())
UNNUMBERED = frozenset(_OTHER.split())
NUMBERS = {book: number for number, book in enumerate(BOOKS, start=1)}
