"""One audit for all tests that only tell of it: each has its own copy of the store."""

import shutil
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from tests.builders import NOW
from tests.service_loop import Loop
from tests.unit.service.places import places_of
from tests.unit.service.slack.notifications.channels import a_service_with, audited_anew, two_accounts


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    return audited_anew(tmp_path_factory.mktemp("audited"), given=two_accounts())


@pytest.fixture
def audited(once, tmp_path):
    """A service with those routes that has audited two accounts: its run is `first`."""

    def made(*routes, **facts):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        shutil.copytree(Path(once.service.root), folder / "store")
        service = a_service_with(folder, *routes, places=places_of(two_accounts()), **facts)
        return Loop(service=replace(service, history=deepcopy(once.service.history)), now=NOW)

    return made
