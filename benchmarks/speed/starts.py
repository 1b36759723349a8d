"""Time until Slack answers a press, cold and warm: the deployed packages on the Lambdas' Python, with the simulated
AWS and a Slack on loopback; what cold starts add to a run's bill, and an audit's function to its call.

A Python without the project's environment unpacks the zip, imports the function as Lambda does, and is called twice.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, Final
from zipfile import ZipFile

import costs
from figures import CACHE, ROOT, Row, timed

sys.path.insert(0, str(ROOT))

from infra.packaging import RUNTIME  # it is beside this folder, as tests are
from infra.packaging.zips import Target, interpreter_of, zip_of
from plimsoll_service.lots import LOT_BYTES

ports: Any = import_module("tests.contract.service_ports")
server: Any = import_module("tests.slack.server")
signing: Any = import_module("tests.slack.signing")
workspace: Any = import_module("tests.slack.workspace")

REPEATS: Final = 3
MOST_ANSWER_S: Final = 1.0
MOST_MESSAGE_S: Final = 3.0
MOST_OF_BILL_PCT: Final = 0.1
MOST_OF_CALL_PCT: Final = 5.0
USD_GIB_S: Final = 0.0000133334
USD_CALL: Final = 0.20 / 1e6
BYTES_A_VOLUME: Final = 920
"""Of a listed volume (`plimsoll_service.lots`)."""

MEMORY_GIB: Final = 2.0
"""Of `audit_batch`, the most of a run's functions but those that merge and report, which a run calls once or twice."""

CALLED: Final = """
import json, sys, time
from importlib import import_module
from types import SimpleNamespace
name, events = json.loads(sys.stdin.read())
began = time.perf_counter()
module = import_module(f"functions.{name}")
seconds = [time.perf_counter() - began]
for number, event in enumerate(events):
    context = SimpleNamespace(
        function_name=name, function_version="$LATEST", memory_limit_in_mb=1769, aws_request_id=f"request-{number}",
        invoked_function_arn=f"arn:aws:lambda:us-east-1:111111111111:function:{name}",
        get_remaining_time_in_millis=lambda: 60_000)
    began = time.perf_counter()
    module.handler(event, context)
    seconds.append(time.perf_counter() - began)
sys.stderr.flush()
print("\\n" + json.dumps({"seconds": seconds, "cpu_s": time.process_time()}))
"""


@dataclass(frozen=True, kw_only=True)
class Started:
    """A function in a process of its own: seconds until it is imported, and of each call."""

    init_s: float
    calls_s: tuple[float, ...]


def measure() -> Iterator[Row]:
    """The rows of Slack's functions, of a run's bill, and of the function that audits."""
    with _deployed() as (environment, slack, volumes):
        act = _started("slack_act", environment, lambda: [_press(slack, next(volumes)) for _ in range(2)])
        work = _started("slack_work", environment, lambda: [_asked(slack, next(volumes)) for _ in range(2)])
        answered = {method: len(slack.called(method)) for method in ("views.open", "chat.postMessage")}
    if set(answered.values()) != {2 * (REPEATS + 1)}:
        raise SystemExit(f"not every press was answered: {answered}")
    batch = _started("audit_batch", environment, list)
    yield Row.at_most(
        "`slack_act`: from a cold start to Slack's answer", act.init_s + act.calls_s[0], MOST_ANSWER_S, "s"
    )
    yield Row(what="… when it is warm", measured=f"{act.calls_s[1]:.3g} s")
    first_s = work.init_s + work.calls_s[0]
    yield Row.at_most("`slack_work`: from a cold start to its message", first_s, MOST_MESSAGE_S, "s")
    yield Row(what="… when it is warm", measured=f"{work.calls_s[1]:.3g} s")
    yield from _of_a_run(batch.init_s)


def _of_a_run(init_s: float) -> Iterator[Row]:
    """The rows of an organization's run, each of whose calls is a cold start."""
    volumes, scaled = LOT_BYTES // BYTES_A_VOLUME, costs.Scaled.from_page()
    cold_usd = init_s * MEMORY_GIB * USD_GIB_S + USD_CALL
    lot_usd = volumes * (scaled.metrics_a_volume * costs.USD_METRIC + scaled.other_usd_a_volume)
    yield Row.at_most(
        f"a cold start of `audit_batch` for each lot of {volumes:,} volumes, of what the lot costs",
        100 * cold_usd / lot_usd,
        MOST_OF_BILL_PCT,
        "%",
    )
    call_s = volumes * _audit_cpu_ms() / 1e3
    yield Row.at_most(
        f"… of the seconds of its call: {init_s:.2f} of {init_s + call_s:.1f}",
        100 * init_s / (init_s + call_s),
        MOST_OF_CALL_PCT,
        "%",
    )


def _audit_cpu_ms() -> float:
    """The CPU of a volume in `audit_batch`, as `make scale` found it for the most volumes."""
    page = (ROOT / "benchmarks" / "scale" / "README.md").read_text(encoding="utf-8")
    each = re.search(r"ms of CPU a volume:.*?`audit_batch` (?:[\d.]+, )*([\d.]+);", page)
    if each is None:
        raise SystemExit("benchmarks/scale/README.md does not say what `audit_batch` takes: make scale")
    return float(each[1])


def _started(name: str, environment: Mapping[str, str], events: Any) -> Started:
    """The median of a few processes, each of which has never run before."""
    python, folder = interpreter_of(RUNTIME) or Path(sys.executable), unpacked(name)
    runs = list[Sequence[float]]()
    for _ in range(REPEATS + 1):
        given = json.dumps([name, events()])
        variables = {**environment, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        ended = timed((python, "-c", CALLED), variables, given=given, folder=folder)
        runs.append(json.loads(ended.printed.strip().rsplit("\n", 1)[-1])["seconds"])
    init_s, *calls_s = (median(seconds) for seconds in zip(*runs[1:], strict=True))
    return Started(init_s=init_s, calls_s=tuple(calls_s))


def unpacked(name: str) -> Path:
    """A function's deployed package for this machine's processors, unpacked as Lambda does."""
    python = RUNTIME if interpreter_of(RUNTIME) else "{}.{}".format(*sys.version_info)
    target = Target(architecture="x86_64", python=python, google=False)
    package = zip_of(name, target, folder=CACHE / "packages")
    folder = package.with_suffix("")
    if not folder.exists():
        with ZipFile(package) as archive:
            archive.extractall(folder)  # what was packed just now
    return folder


@contextmanager
def _deployed() -> Iterator[tuple[dict[str, str], Any, Iterator[str]]]:
    """What the infrastructure gives Slack's functions, with the Slack that they answer, and volumes to press about."""
    with ports.home_account() as account, server.FakeSlack(pace_s=0) as slack:
        config = {
            "accounts": [account.organization.fleet.accounts[0]],
            "regions": ["us-east-1"],
            "slack": {
                "teams": [signing.TEAM, workspace.TEAM],
                "channel": workspace.CHANNEL,
                "user_groups": [workspace.GROUP],
            },
        }
        bus, _ = account.bus()
        account.client("ssm").put_parameter(Name=f"/plimsoll/{bus}", Value=json.dumps(config), Type="String")
        secret = json.dumps({"signing_secret": signing.SIGNING_SECRET, "bot_token": slack.token})
        account.client("secretsmanager").create_secret(Name=f"slack-{bus}", SecretString=secret)
        named = {
            "PLIMSOLL_BUCKET": account.bucket(),
            "PLIMSOLL_CONFIG_PARAMETER": f"/plimsoll/{bus}",
            "PLIMSOLL_HISTORY_TABLE": account.table("place", "volume_id"),
            "PLIMSOLL_COORDINATION_TABLE": account.table("id"),
            "PLIMSOLL_EVENT_BUS": bus,
            "PLIMSOLL_AUDIT_MACHINE": account.machine(),
            "PLIMSOLL_SLACK_SECRET": f"slack-{bus}",
            "PLIMSOLL_SLACK_WORKER": "plimsoll-main-slack_work",
            "PLIMSOLL_SLACK_API_URL": slack.api_url,
        }
        home, listed = account.organization.fleet.accounts[0], account.client("ec2").describe_volumes()["Volumes"]
        volumes = iter([f"{home}/us-east-1/{volume['VolumeId']}" for volume in listed])
        yield {**account.organization.environment, **named}, slack, volumes


def _press(slack: Any, volume: str) -> dict[str, Any]:
    """A press of a button that opens a dialog, as Slack sends it."""
    return dict(
        signing.interaction(
            signing.pressed(
                "menu", volume, selected="snooze", trigger_id=slack.trigger(), response_url=slack.response_url()
            )
        )
    )


def _asked(slack: Any, volume: str) -> dict[str, Any]:
    """What the worker is given for a volume that somebody puts off, by a message of ours in the channel."""
    channel = workspace.CHANNEL
    message = workspace.Message(channel=channel, ts=slack.there.stamp(), text="the report", blocks=[])
    slack.there.messages.append(message)
    return {
        "id": volume.rpartition("/")[2],
        "team": workspace.TEAM,
        "user": workspace.MEMBER,
        "do": "snooze",
        "volume": volume,
        "entered": {"days": "7", "reason": "a release"},
        "channel": channel,
        "thread": message.ts,
    }


if __name__ == "__main__":
    for row in measure():
        sys.stdout.write(f"{row}\n")
