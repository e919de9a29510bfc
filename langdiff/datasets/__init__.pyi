# the public names, for type checkers and at run time alike
from .bothwell_et_al_2023 import Bothwell2023 as Bothwell2023
from .bothwell_et_al_2023 import bothwell2023 as bothwell2023
from .measurements import Measurements as Measurements
from .measurements import edition_atlas as edition_atlas
from .measurements import ntrex10 as ntrex10
from .measurements import testaments as testaments
from .measurements import three_corpora as three_corpora
from .mielke_et_al_2019 import mielke2019 as mielke2019
from .parsers import Morey2017 as Morey2017
from .parsers import bender2011 as bender2011
from .parsers import morey2017 as morey2017
from .published_figures import PublishedFigures as PublishedFigures
from .published_figures import belebele2024 as belebele2024
from .published_figures import byte_premium2024 as byte_premium2024
from .published_figures import goldfish2024 as goldfish2024
from .published_figures import tokenization_lengths2023 as tokenization_lengths2023
from .published_figures import xmi2020 as xmi2020
