"""Types that signatures share."""

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Array", "ArrayLike", "RandomState"]

Array = np.ndarray
RandomState = int | np.random.Generator | None  # what numpy.random.default_rng takes
