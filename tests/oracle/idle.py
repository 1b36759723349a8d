"""Idle, although attached: no operation on so many whole days (UTC), every one of which is known, nor around the end of
the last quarter.

Days are those of `days.days_of`, numbered from the window's first one. Around a quarter's end are the five days before
its last day and the five after it.
"""

from datetime import UTC, datetime, timedelta

DAY = 86_400


def idle_days(days, window_s, whole_days, made_s, policy):
    """For how many days a volume has done nothing; None where it did, or that is not known.

    days: what was done on each known day. window_s: the midnight on which day 0 begins; whole_days: how many of the
    window's are over. made_s: when the volume was made.
    """
    count = 0
    while days.get(whole_days - 1 - count, (None,))[0] == 0:
        count += 1
    if count < policy["idle_days"]:
        return None
    over = datetime.fromtimestamp(window_s + whole_days * DAY, UTC).date()
    ended = over.replace(day=1)
    while ended.month not in (1, 4, 7, 10):
        ended = (ended - timedelta(days=1)).replace(day=1)
    ended -= timedelta(days=1)
    if datetime.fromtimestamp(made_s, UTC).date() > ended:
        return count
    for apart in range(-5, 6):
        day = ended + timedelta(days=apart)
        begins_s = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
        number = int(begins_s - window_s) // DAY
        there = begins_s + DAY > made_s and number < whole_days
        if there and days.get(number, (None,))[0] != 0:
            return None
    return count
