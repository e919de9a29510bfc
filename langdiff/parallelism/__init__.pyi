# the public names, for type checkers and at run time alike
from .documents import Document as Document
from .documents import Parallelism as Parallelism
from .documents import Section as Section
from .documents import make_document as make_document
from .enclosing import nesting as nesting
from .enclosing import strata as strata
from .files import read_parallelisms as read_parallelisms
from .files import write_parallelisms as write_parallelisms
from .passages import passage_html as passage_html
from .passages import passage_text as passage_text
from .ranks import RankComparison as RankComparison
from .ranks import compare_treatments as compare_treatments
from .splitting import DocumentSplit as DocumentSplit
from .splitting import split_documents as split_documents
from .splitting import tag_counts as tag_counts
from .statistics import ParallelismStatistics as ParallelismStatistics
from .statistics import parallelism_statistics as parallelism_statistics
