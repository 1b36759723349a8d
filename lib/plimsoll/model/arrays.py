"""Arrays: numpy's, by what they hold."""

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

IntArray = npt.NDArray[np.int64]

BoolArray = npt.NDArray[np.bool_]
