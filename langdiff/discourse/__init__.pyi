# the public names, for type checkers and at run time alike
from .comparison import TreeComparison as TreeComparison
from .comparison import compare_trees as compare_trees
from .evaluation import discourse_similarity as discourse_similarity
from .evaluation import evaluate_discourse as evaluate_discourse
from .files import parse_discourse as parse_discourse
from .files import read_discourse as read_discourse
from .files import write_discourse as write_discourse
from .items import read_classes as read_classes
from .result import DiscourseEvaluation as DiscourseEvaluation
from .tree import Attachment as Attachment
from .tree import DiscourseTree as DiscourseTree
from .tree import attachments_of as attachments_of
from .tree import binarize as binarize
from .tree import tree_of_attachments as tree_of_attachments
