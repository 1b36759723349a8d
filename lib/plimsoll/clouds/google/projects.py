"""The projects of an audit: a list, those of folders and of organizations, or the one that the environment names."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from plimsoll.clouds.common.messages import Purpose
from plimsoll.clouds.google.clients import Clients
from plimsoll.clouds.google.errors import attempted
from plimsoll.clouds.google.names import GET_PROJECT, LIST_FOLDERS, LIST_PROJECTS, PROJECT_ID, PROJECT_NUMBER
from plimsoll.domain.errors import BadInput, CloudError
from plimsoll.ports import FailedTarget

LISTING: Final = Purpose(
    goes_on="The audit goes on without them",
    allow="grant it to the caller there (roles/browser has what finding projects takes), or name projects instead "
    "(--project)",
    again="run again later",
)
_PAGE: Final = 300
_ACTIVE: Final = "ACTIVE"
_NUMBER: Final = r"^[0-9]+$"


def projects_in(
    clients: Clients,
    *,
    projects: Sequence[str] = (),
    folders: Sequence[str] = (),
    organizations: Sequence[str] = (),
) -> list[str | FailedTarget]:
    """The ids of the named projects, and of the active ones in folders and organizations and below, each once.

    Where none of the three is named it is the environment's project. Projects are named by id or number, folders and
    organizations by number, perhaps with folders/ or organizations/ before it. What cannot be listed is among them with
    why. BadInput for a name that is none of these, or where there is no project at all.
    """
    parents = [_parent("folders", one) for one in folders] + [_parent("organizations", one) for one in organizations]
    named = [_checked(one) for one in projects]
    if not named and not parents:
        return [_default(clients)]
    found = [_by_id(clients, one) for one in named]
    found += [one for parent in parents for one in _reached(clients, parent)]
    return [one for number, one in enumerate(found) if one not in found[:number]]


def _default(clients: Clients) -> str | FailedTarget:
    try:
        project = clients.default_project
    except CloudError as error:
        return FailedTarget(name="the default project", error=error)
    if project is None:
        raise BadInput(
            "no Google Cloud project is named: name one with --project, or set GOOGLE_CLOUD_PROJECT or "
            "`gcloud config set project PROJECT`."
        )
    return project


def _checked(project: str) -> str:
    name = project.removeprefix("projects/")
    if not re.fullmatch(PROJECT_ID, name) and not re.fullmatch(PROJECT_NUMBER, name):
        raise BadInput(
            f"{project} is no id of a Google Cloud project (6 to 30 lowercase letters, digits and hyphens): see the "
            "ids with `gcloud projects list`."
        )
    return name


def _parent(kind: str, named: str) -> str:
    number = named.removeprefix(f"{kind}/")
    if not re.match(_NUMBER, number):
        raise BadInput(
            f"{named} is no number of {'a folder' if kind == 'folders' else 'an organization'}: see the numbers with "
            f"`gcloud {'resource-manager folders' if kind == 'folders' else 'organizations'} list`."
        )
    return f"{kind}/{number}"


def _by_id(clients: Clients, project: str) -> str | FailedTarget:
    """The id of a project that is named by id or number. Whether an id can be read shows where its disks are listed."""
    if not re.fullmatch(PROJECT_NUMBER, project):
        return project
    try:
        with attempted(f"find the project {project}", project, GET_PROJECT, LISTING):
            found = clients.projects.get_project(name=f"projects/{project}", **clients.tries)
    except CloudError as error:
        return FailedTarget(name=project, error=error)
    return str(found.project_id)


def _reached(clients: Clients, parent: str) -> list[str | FailedTarget]:
    """The active projects under a parent, or the reasons why there are none."""
    found = list(_under(clients, parent))
    if not found:
        reason = f"{parent} has no active project: name another that has, or leave it out."
        return [FailedTarget(name=parent, error=CloudError(reason))]
    return found


def _under(clients: Clients, parent: str) -> Iterator[str | FailedTarget]:
    """The active projects of a parent and of all folders below it; one that cannot be listed costs itself alone."""
    asked = {"parent": parent, "page_size": _PAGE}
    try:
        with attempted(f"list the projects of {parent}", parent, LIST_PROJECTS, LISTING):
            projects = clients.projects.list_projects(asked, **clients.tries)
            yield from [str(one.project_id) for one in projects if one.state.name == _ACTIVE]
        with attempted(f"list the folders of {parent}", parent, LIST_FOLDERS, LISTING):
            folders = clients.folders.list_folders(asked, **clients.tries)
            below = [str(one.name) for one in folders if one.state.name == _ACTIVE]
    except CloudError as error:
        yield FailedTarget(name=parent, error=error)
        return
    for folder in below:
        yield from _under(clients, folder)
