"""docs/deploy.md is true: its settings are settings with these defaults, and infra/costs.md adds up to its sums."""

import re
from pathlib import Path

import pytest

from plimsoll_service.queries import QUERIES

DOCS = Path(__file__).parents[2] / "docs"
DEPLOY = (DOCS / "deploy.md").read_text(encoding="utf-8")
COSTS = (DOCS.parent / "infra" / "costs.md").read_text(encoding="utf-8")
WEEKS_A_MONTH = 52 / 12


def table(after, page=DEPLOY):
    """The cells of the first table after a text, by row, without its head."""
    lines = page.partition(after)[2].strip().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


@pytest.fixture
def settings():
    listing = pytest.importorskip("infra.list_settings")
    return {one.variable.removeprefix("PLIMSOLL_DEPLOY_"): one for one in listing.list_settings()}


def test_every_setting_is_listed_once_and_says_what_it_is(settings):
    fields = pytest.importorskip("infra.settings").Deployment.model_fields
    assert {one.name.partition(".")[0] for one in settings.values()} == set(fields)
    assert [one.name for one in settings.values() if not one.meaning.endswith(".")] == []


def test_the_settings_that_the_page_names_are_settings_with_these_defaults(settings):
    cells = " ".join(cell for _, cell in table("### Settings"))
    named = dict(re.findall(r"`([A-Z_]+)(?:=\w+)?`(?: \(([\d,.]+)\))?", cells))
    assert len(named) > 15
    assert named.keys() <= settings.keys()
    for name, default in named.items():
        assert not default or float(settings[name].default) == float(default.replace(",", ""))


def test_make_settings_prints_them(capsys):
    listing = pytest.importorskip("infra.list_settings")
    listing.main()
    assert "PLIMSOLL_DEPLOY_STAGE=main\n" in capsys.readouterr().out


def costs(head):
    """How many, at what price, and what that comes to, of each line of a table of costs."""
    return [tuple(float(cell.replace(",", "")) for cell in row[1:]) for row in table(head, COSTS)]


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
    said = re.search(r"That is ([\d.]+) USD an audit, and ([\d.]+) USD in a month", COSTS)
    total = re.search(r"About ([\d.]+) USD a month in all", COSTS)
    assert said is not None
    assert total is not None
    assert [float(one) for one in said.groups()] == [pytest.approx(audit, abs=0.006), pytest.approx(monthly, abs=0.006)]
    assert float(total[1]) == pytest.approx(all_in_all, abs=0.02)


def test_what_slack_adds_is_what_the_text_says():
    said = re.search(r"Slack adds ([\d.]+) USD a month", COSTS)
    assert said is not None
    assert float(said[1]) == pytest.approx(sum(usd for *_, usd in costs("With Slack, by the month")), abs=0.02)


def test_the_page_has_the_sums_of_the_costs():
    for pattern in (r"([\d.]+) USD an audit", r"[Aa]bout ([\d.]+) USD a month", r"Slack adds ([\d.]+) USD a month"):
        sums = [re.search(pattern, " ".join(page.split())) for page in (DEPLOY, COSTS)]
        assert all(sums)
        assert len({one[1] for one in sums}) == 1


def test_the_saved_queries_are_all_named():
    text = (DOCS.parent / "infra" / "operating.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([a-z0-9]+-[a-z0-9-]+)` \|", text, re.MULTILINE)[: len(QUERIES)] == list(QUERIES)
