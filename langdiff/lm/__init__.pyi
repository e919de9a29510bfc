# the public names, for type checkers and at run time alike
from .compute import compute_surprisals as compute_surprisals
from .compute import score_multitext as score_multitext
from .external.compression import lzma_bits as lzma_bits
from .external.huggingface import HuggingFaceLM as HuggingFaceLM
from .external.protocol import SurprisalModel as SurprisalModel
from .external.protocol import surprisals_of as surprisals_of
from .jobs.logs import read_training_logs as read_training_logs
from .lstm.model import read_language_model as read_language_model
from .lstm.training import train_language_model as train_language_model
from .ngram.model import read_kneser_ney as read_kneser_ney
from .ngram.model import train_kneser_ney as train_kneser_ney
from .ngram.recipe import KneserNeyRecipe as KneserNeyRecipe
from .recipes import RECIPES as RECIPES
from .recipes import Recipe as Recipe
from .scoring import Scoring as Scoring
