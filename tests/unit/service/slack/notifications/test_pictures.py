"""The pictures of a part: savings by account, and the largest saving under its ceilings, drawn as PNG images."""

import pytest

from plimsoll.model.errors import NotMeasured
from plimsoll.reports.run_reader import full_name, stream_records
from plimsoll_service.slack.blocks.pictures import Draft
from plimsoll_service.slack.notifications.channels import parts_of
from plimsoll_service.slack.notifications.run_report import Gallery
from plimsoll_service.store_keys import RunKeys
from tests.service_loop import files
from tests.slack.workspace import CHANNEL
from tests.unit.service.places import ACCOUNT
from tests.unit.service.slack.notifications.channels import DATA, OTHER_ACCOUNT


def parts_in(loop):
    service = loop.service
    return parts_of(stream_records(files(service, "first")), service.config.slack)


def gallery(loop, folder, draw):
    return Gallery(service=loop.service, keys=RunKeys(run_id="first"), folder=folder / "gallery", draw=draw)


@pytest.mark.once
def test_both_are_drawn_as_images_whose_titles_say_what_is_to_see(audited, tmp_path):
    loop = audited()
    savings, roofline = gallery(loop, tmp_path, Draft.png).draw_pictures(parts_in(loop)[CHANNEL])
    for picture in (savings, roofline):
        assert picture.png.startswith(b"\x89PNG\r\n\x1a\n")
        assert 1000 < len(picture.png) < 1_000_000
    assert savings.title == "Savings by account"
    assert "vol-us-east-1-" in roofline.title


def test_the_roofline_is_that_of_the_largest_saving_with_its_own_demand(audited, tmp_path):
    loop = audited()
    part, seen = parts_in(loop)[CHANNEL], []

    def draw(draft):
        seen.append((draft.chart.kind, draft.profile))
        return b"PNG"

    list(gallery(loop, tmp_path, draw).draw_pictures(part))
    (_, nothing), (kind, profile) = seen
    assert (nothing, kind) == (None, "roofline")
    assert full_name(profile) == full_name(part.largest)
    saved = [one.monthly_usd_saved for one in stream_records(files(loop.service, "first"))]
    assert part.largest.monthly_usd_saved == max(saved)


def test_one_account_alone_has_no_picture_of_accounts(audited, tmp_path):
    loop = audited({"channel": DATA, "accounts": [OTHER_ACCOUNT]})
    pictures = gallery(loop, tmp_path, lambda _draft: b"PNG").draw_pictures(parts_in(loop)[DATA])
    assert [one.name for one in pictures] == ["roofline.png"]


def test_a_picture_that_fails_is_left_out_and_noted(audited, tmp_path, caplog):
    def draw(draft):
        if draft.chart.kind == "roofline":
            raise NotMeasured("nothing to draw.")
        return b"PNG"

    loop = audited()
    pictures = gallery(loop, tmp_path, draw).draw_pictures(parts_in(loop)[CHANNEL])
    assert [one.name for one in pictures] == ["savings.png"]
    assert "a picture of run first cannot be drawn" in caplog.text


def test_the_parts_add_up_to_the_records_of_their_channels(audited):
    loop = audited({"channel": DATA, "tags": {"team": None}})
    parts = parts_in(loop)
    records = list(stream_records(files(loop.service, "first")))
    assert set(parts) == {CHANNEL, DATA}
    saved = dict.fromkeys((ACCOUNT, OTHER_ACCOUNT), 0.0)
    for record in records:
        saved[record.account] += record.monthly_usd_saved
    assert parts[CHANNEL].saved_usd_by_account == pytest.approx(saved)
    assert parts[DATA].saved_usd_by_account == pytest.approx({OTHER_ACCOUNT: saved[OTHER_ACCOUNT]})
