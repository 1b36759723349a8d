"""A scratch volume for as long as a block of a test: made and attached before, taken away after, whatever happens."""

from contextlib import contextmanager

from plimsoll_measure.validation.scratch_volume import clean, is_attached, is_made


@contextmanager
def scratch_volume(order, host, target, *, bench, patience, left):
    """As the steps of a validation make, await and take away a scratch volume."""
    given = {"bench": bench, "patience": patience}
    try:
        volume_id, since = bench.create(order), patience.now()
        while not is_made(volume_id, target, since, **given):
            patience.pause(patience.every_s)
        bench.attach(target, volume_id, host.host.id)
        since = patience.now()
        while not is_attached(volume_id, target, host.host.id, since, **given):
            patience.pause(patience.every_s)
        yield volume_id
    finally:
        for one in clean(order.validation_id, target, **given):
            left(one)
