"""Which editions and intents to compare: the largest complete table in an incomplete multitext, and its parts."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
