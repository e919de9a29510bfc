"""Models of successes out of trials: abilities of systems, difficulties of items (random or conditioned on)."""

from typing import Literal

# Names of models; `likelihoods` has what each is made of. A new one needs its class there and its name here.
SampledModel = Literal["rasch", "beta-binomial", "slopes"]
OutcomeModel = Literal[SampledModel, "conditional"]
