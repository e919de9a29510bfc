# the public names, for type checkers and at run time alike
from .bender_et_al_2011 import bender2011 as bender2011
from .bothwell_et_al_2023 import bothwell2023 as bothwell2023
from .mielke_et_al_2019 import mielke2019 as mielke2019
from .morey_et_al_2017 import morey2017 as morey2017
