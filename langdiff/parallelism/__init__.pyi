# the public names, for type checkers and at run time alike
from .agreement import AnnotatorAgreement as AnnotatorAgreement
from .agreement import annotator_agreement as annotator_agreement
from .cleaning import align_conjunctions as align_conjunctions
from .cleaning import merge_interlocked as merge_interlocked
from .documents import Document as Document
from .documents import Parallelism as Parallelism
from .documents import Section as Section
from .documents import make_document as make_document
from .enclosing import nesting as nesting
from .enclosing import strata as strata
from .files import read_parallelisms as read_parallelisms
from .scores import ParallelismScores as ParallelismScores
from .scoring import score_parallelisms as score_parallelisms
from .tagging import TAGGING_SCHEMES as TAGGING_SCHEMES
from .tagging import TaggingScheme as TaggingScheme
from .tagging import tag_transitions as tag_transitions
