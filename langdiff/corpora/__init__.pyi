# the public names, for type checkers and at run time alike
from .counts import CostepStatistics as CostepStatistics
from .counts import corpus_sizes as corpus_sizes
from .download import fetch as fetch
from .formats.costep import costep_statistics as costep_statistics
from .formats.format import Format as Format
from .formats.format import FormatText as FormatText
from .formats.format import Reading as Reading
from .formats.registry import read_multitext as read_multitext
from .formats.registry import write_multitext as write_multitext
from .frame import read_frame as read_frame
from .origin import native_share as native_share
from .synthetic.language import SyntheticLanguage as SyntheticLanguage
from .synthetic.result import SyntheticMultitext as SyntheticMultitext
from .synthetic.result import synthesize as synthesize
from .tokenizer import detokenize as detokenize
from .tokenizer import tokenize as tokenize
