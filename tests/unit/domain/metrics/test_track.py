"""Buckets that begin with a step, where points come no more often."""

import numpy as np
import pytest

from plimsoll.reading.known import Track
from plimsoll.reading.window import Window


def a_track(lengths_s, finest_s=60, start_s=0):
    """A track of consecutive buckets, in each of which one operation was written a minute."""
    lengths = np.array(lengths_s)
    starts_s = start_s + np.concatenate([[0], np.cumsum(lengths)[:-1]])
    return Track(
        starts_s=starts_s,
        lengths_s=lengths,
        finest_s=np.full(len(lengths), finest_s),
        series={"write_ops": lengths / 60},
    )


@pytest.mark.parametrize(
    ("lengths_s", "folded_s", "is_unread"),
    [
        ([60] * 10, [300, 300], [False, False]),
        ([360, 60, 60, 60, 60], [600], [True]),  # a step lies across the first: both steps are read again
        ([180, 120, 600, 360, 240], [300, 600, 600], [False, True, True]),
        ([3600, 360, 3240], [3600, 3600], [True, True]),
        ([360], [360], [False]),  # the end of what is known: no step can be read of it
    ],
)
def test_buckets_are_folded_into_ones_that_can_be_read_in_steps(lengths_s, folded_s, is_unread):
    track = a_track(lengths_s)
    folded = track.fold(Window(start_s=0, end_s=sum(lengths_s)), 300)
    assert folded.lengths_s.tolist() == folded_s
    assert folded.unread.tolist() == is_unread
    assert folded.series["write_ops"].tolist() == [length_s / 60 for length_s in folded_s]
