"""Benches: of each cloud that a scope asks, the ports and the bench that measures for it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

from plimsoll.auditing.ports import AuditPorts
from plimsoll.bootstrap import aws_bench, aws_ports
from plimsoll.bootstrap.scope import AWS, Scope, sign_in
from plimsoll.clouds.ledger import Ledger
from plimsoll.ports import Bench
from plimsoll.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Bay:
    """A cloud's ports and its bench."""

    ports: AuditPorts
    bench: Bench


def bays_of(scope: Scope, settings: Settings, *, today: date, ledger: Ledger, paced: bool = True) -> Iterator[Bay]:
    """A bay for each cloud that the scope asks, in its order; BadInput for a scope that cannot be.

    `paced`: keep to the quotas; a simulated cloud may have none.
    """
    for cloud in scope.clouds:
        alone = replace(scope, clouds=(cloud,), regions=scope.regions_of(cloud))
        make = _aws if cloud == AWS else _google
        yield make(alone, settings, today, ledger, paced=paced)


def _aws(scope: Scope, settings: Settings, today: date, ledger: Ledger, *, paced: bool) -> Bay:
    signed_in = sign_in(scope, settings)
    ports = aws_ports(scope, settings, today=today, ledger=ledger, paced=paced, signed_in=signed_in)
    return Bay(ports=ports, bench=aws_bench(signed_in, settings))


def _google(scope: Scope, settings: Settings, today: date, ledger: Ledger, *, paced: bool) -> Bay:
    # Google's libraries are slow to import, and most validations do without them.
    from plimsoll.bootstrap.google import google_ports  # noqa: PLC0415
    from plimsoll.clouds.google.bench import GoogleBench  # noqa: PLC0415
    from plimsoll.clouds.google.clients import Clients  # noqa: PLC0415

    clients = Clients(url=settings.google_url, monitoring=settings.google_monitoring, attempts=settings.max_attempts)
    ports = google_ports(scope, settings, today=today, ledger=ledger, paced=paced, clients=clients)
    return Bay(ports=ports, bench=GoogleBench(clients=clients))
