"""The permissions that are declared are exactly those that an audit uses."""

import os
from datetime import UTC, datetime

import pytest

from cloud_simulator.running import running
from plimsoll.auditing.audit import run_audit
from plimsoll.bootstrap.clouds import ports_of
from plimsoll.clouds.aws.permissions import AUDIT, AUDIT_LOG, auditing
from plimsoll.clouds.aws.sessions import Sessions
from plimsoll.clouds.ledger import Ledger
from plimsoll.clouds.scope import Scope
from plimsoll.model.policy import Policy
from plimsoll.settings import Settings


@pytest.mark.parametrize("log", [False, True])
def test_an_audit_calls_exactly_what_it_declares(monkeypatch, tmp_path, log):
    used: set[str] = set()
    made = Sessions.client

    def listened(sessions, service, account, region):
        client = made(sessions, service, account, region)
        prefix = client.meta.service_model.signing_name
        prefix = "cloudwatch" if prefix == "monitoring" else prefix

        def note(model, **_others):
            used.add(f"{prefix}:{model.name}")

        client.meta.events.register("before-call", note, unique_id="listened")
        return client

    monkeypatch.setattr(Sessions, "client", listened)
    now = datetime.now(UTC)
    with running(now, volumes=1) as organization:
        for name, value in organization.environment.items():
            monkeypatch.setenv(name, value)
        settings = Settings()
        policy = Policy(lookback_days=2, read_audit_log=log)
        ledger = Ledger(path=tmp_path / "ledger.json")
        (ports,) = ports_of(Scope(), settings, today=now.date(), ledger=ledger, paced=False, log_days=policy.log_days)
        outcomes = list(run_audit(ports, policy, now))
    assert outcomes
    assert os.environ["AWS_ENDPOINT_URL"].startswith("http://127.0.0.1")
    assert used | {"sts:GetCallerIdentity"} == auditing(policy)


@pytest.mark.parametrize("action", sorted(AUDIT | AUDIT_LOG))
def test_every_declared_permission_reads(action):
    assert action.split(":")[1].startswith(("Describe", "Get", "List", "Lookup"))
