"""Models of successes out of trials, scores, ratings and counts: levels of systems, difficulties of items."""

from typing import Literal

# Names of models; `likelihoods` has what each is made of. A new one needs its class there and its name here.
SampledModel = Literal["rasch", "beta-binomial", "slopes"]
ScoreModel = Literal["normal", "ordinal", "poisson"]
OutcomeModel = Literal[SampledModel, "conditional", ScoreModel]
