"""What docs/deploy.md says is so: every setting is in it with its default, and its arithmetic is right."""

import re
from pathlib import Path

import pytest
from pydantic_core import PydanticUndefined

from plimsoll.service.config import ServiceConfig, ValidationBudget
from plimsoll.service.queries import QUERIES
from plimsoll.service.slack_config import SlackConfig

DOCS = Path(__file__).parents[2] / "docs"
DEPLOY = (DOCS / "deploy.md").read_text(encoding="utf-8")
WEEKS_A_MONTH = 52 / 12
WITHIN = {"validation": ValidationBudget, "slack": SlackConfig}
"""Settings that hold others, each by a name of its own."""


def table(after):
    """The cells of the first table after a text, by row, without its head."""
    lines = DEPLOY.partition(after)[2].strip().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def shown(default):
    if default in (None, (), {}, PydanticUndefined):
        return ""
    return str(default).lower() if isinstance(default, bool) else f"`{default}`"


def settings(model, names, prefix=""):
    for name in names:
        field = model.model_fields[name]
        if name in WITHIN:
            yield from settings(WITHIN[name], WITHIN[name].model_fields, f"{name}.")
        else:
            default = field.get_default(call_default_factory=True)
            yield [f"`{prefix}{name}`", shown(default), field.description]


def test_every_setting_of_the_service_is_there_with_its_default_and_meaning():
    assert table("What is audited and measured") == list(settings(ServiceConfig, ServiceConfig.model_fields))


def test_every_setting_of_the_deployment_is_there_with_its_default_and_meaning():
    deployment = pytest.importorskip("infra.settings").Deployment
    own = [name for name in deployment.model_fields if name not in ServiceConfig.model_fields]
    assert table("What is deployed:") == list(settings(deployment, own))


def costs(head):
    """How many, at what price, and what that comes to, of each line of a table of costs."""
    return [tuple(float(cell.replace(",", "")) for cell in row[1:]) for row in table(head)]


@pytest.mark.parametrize(
    ("head", "cent"), [("without any free tier.", 0.0001), ("by the month:", 0.01), ("With Slack, by the month", 0.01)]
)
def test_each_cost_is_its_number_times_its_price(head, cent):
    for many, price, usd in costs(head):
        assert usd == pytest.approx(many * price, abs=0.51 * cent)


def test_the_costs_add_up_to_what_the_text_says():
    audit = sum(many * price for many, price, _ in costs("without any free tier."))
    monthly = audit * WEEKS_A_MONTH
    all_in_all = monthly + sum(usd for *_, usd in costs("by the month:"))
    said = re.search(r"That is ([\d.]+) USD an audit, and ([\d.]+) USD in a month", DEPLOY)
    total = re.search(r"About ([\d.]+) USD a month in all", DEPLOY)
    assert said is not None
    assert total is not None
    assert [float(one) for one in said.groups()] == [pytest.approx(audit, abs=0.006), pytest.approx(monthly, abs=0.006)]
    assert float(total[1]) == pytest.approx(all_in_all, abs=0.02)


def test_what_slack_adds_is_what_the_text_says():
    said = re.search(r"Slack adds ([\d.]+) USD a month", DEPLOY)
    assert said is not None
    assert float(said[1]) == pytest.approx(sum(usd for *_, usd in costs("With Slack, by the month")), abs=0.02)


def test_the_saved_queries_are_all_named():
    text = (DOCS / "results-as-data.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z0-9]+-[a-z0-9-]+)` \|", text, re.MULTILINE)[: len(QUERIES)] == list(QUERIES)
