"""Units: seconds, bytes, times and arrays of figures."""

from datetime import datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt

MINUTE_S: Final = 60
HOUR_S: Final = 3600
DAY_S: Final = 86_400

KIB: Final = 1 << 10
MIB: Final = 1 << 20
KIB_PER_MIB: Final = 1024

FloatArray = npt.NDArray[np.float64]


def ago(now: datetime, **span: float) -> datetime:
    """A time before `now`."""
    return now - timedelta(**span)
