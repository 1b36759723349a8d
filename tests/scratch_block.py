"""A scratch volume for as long as a block of a test: made and attached before, taken away after, whatever happens."""

from contextlib import contextmanager

from plimsoll.validation.scratch_volume import attached, clean, made


@contextmanager
def scratch_volume(order, host, target, *, bench, patience, left):
    """As the steps of a validation make, await and take away a scratch volume."""

    def wait(awaited, volume_id):
        patience.wait_for(
            lambda: awaited.is_there(volume_id, target, bench=bench) or None,
            limit_s=awaited.limit_s,
            otherwise=awaited.overdue(volume_id),
        )

    try:
        volume_id = bench.create(order)
        wait(made(patience), volume_id)
        bench.attach(target, volume_id, host.host.id)
        wait(attached(host.host.id, patience), volume_id)
        yield volume_id
    finally:
        for one in clean(order.validation_id, target, bench=bench, patience=patience):
            left(one)
