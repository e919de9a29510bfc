"""Pictures: axes in, the same axes out. Importing this does not import Matplotlib."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
