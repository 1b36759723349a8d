"""The projects of an audit: a list, those of folders and of organizations, or the one that the environment names."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from plimsoll.clouds.common.answers import bad_answer
from plimsoll.clouds.common.messages import CallPurpose
from plimsoll.model.errors import BadAnswer, BadInput, CloudError
from plimsoll.ports import FailedTarget
from plimsoll_google.clients import Clients
from plimsoll_google.errors import call_errors
from plimsoll_google.names import FOLDER_ID, GET_PROJECT, LIST_FOLDERS, LIST_PROJECTS, PROJECT_ID, PROJECT_NUMBER
from plimsoll_google.pages import PagedList

if TYPE_CHECKING:
    from google.cloud.resourcemanager_v3 import Folder, Project

PROJECT_LISTING: Final = CallPurpose(
    goes_on="The audit goes on without them",
    allow="grant it to the caller there (roles/browser has what finding projects takes), or name projects instead "
    "(--project)",
    again="run again later",
)
_PAGE: Final = 300
_LOOKS: Final = 2
"""The number of times that a list with a project twice is read."""
_ACTIVE, _LEAVING = 1, 2
"""The states of a project or a folder that is used, and of one that is being deleted (Resource Manager v3)."""
_NUMBER: Final = r"^[0-9]+$"


def projects_in(
    clients: Clients,
    *,
    projects: Sequence[str] = (),
    folders: Sequence[str] = (),
    organizations: Sequence[str] = (),
) -> list[str | FailedTarget]:
    """The ids of the named projects, and of the active ones in folders and organizations and below, each once.

    If none of the three is named it is the environment's project. Projects are named by id or number, folders and
    organizations by number, perhaps with folders/ or organizations/ before it. A project or parent that cannot be
    listed is among them with the reason. Raises BadInput for a name that is none of these, or if there is no project at
    all.
    """
    parents = [_parent("folders", name) for name in folders] + [
        _parent("organizations", name) for name in organizations
    ]
    named = [_check_name(name) for name in projects]
    if not named and not parents:
        return [_default(clients)]
    entries = [_by_id(clients, name) for name in named]
    entries += [name for parent in parents for name in _projects_below(clients, parent)]
    return list(dict.fromkeys(entries))


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


def _check_name(project: str) -> str:
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
    """The id of a project that is named by id or number. Its disks show later whether an id can be read."""
    if not re.fullmatch(PROJECT_NUMBER, project):
        return project
    tries = clients.tries_within(clients.list_deadline())
    try:
        with call_errors(f"find the project {project}", project, GET_PROJECT, PROJECT_LISTING):
            answer = clients.projects.get_project(name=f"projects/{project}", **tries)
        return _id_of(answer, project)
    except CloudError as error:
        return FailedTarget(name=project, error=error)


def _id_of(answer: "Project", place: str) -> str:
    """The id of a project. Raises BadAnswer if it has none."""
    if not re.fullmatch(PROJECT_ID, answer.project_id):
        raise bad_answer(f"projectId is {answer.project_id!r}", str(answer), call=GET_PROJECT, place=place)
    return str(answer.project_id)


def _projects_below(clients: Clients, parent: str) -> list[str | FailedTarget]:
    """The active projects under a parent, or the reasons why there are none."""
    entries = list(_under(clients, parent, set()))
    if not entries:
        reason = f"{parent} has no active project: name another that has, or leave it out."
        return [FailedTarget(name=parent, error=CloudError(reason))]
    return entries


def _under(clients: Clients, parent: str, seen: set[str]) -> Iterator[str | FailedTarget]:
    """The active projects of a parent and of all folders below it; a folder that cannot be listed stops no other."""
    seen.add(parent)
    try:
        projects, twice = _each_once(clients, parent)
        for project in projects:
            yield from _project(project, parent)
        if twice:
            wrong = f"it has {', '.join(twice)} twice, so that another project may be missing"
            error = bad_answer(wrong, twice, call=LIST_PROJECTS, place=f"the projects of {parent}")
            yield FailedTarget(name=f"{parent}: what is listed twice", error=error)
        below = list(_list_children(clients, parent, "folders"))
    except CloudError as error:
        yield FailedTarget(name=parent, error=error)
        return
    for folder in below:
        known = _state(folder) in {_ACTIVE, _LEAVING} and re.fullmatch(FOLDER_ID, folder.name)
        if not known or folder.name in seen:
            wrong = f"the folder {folder.name or 'without a name'} is listed twice, or its state is {_state(folder)}"
            refused = bad_answer(wrong, str(folder), call=LIST_FOLDERS, place=f"the folders of {parent}")
            yield FailedTarget(name=folder.name or parent, error=refused)
        elif _state(folder) == _ACTIVE:
            yield from _under(clients, folder.name, seen)


def _each_once(clients: Clients, parent: str) -> tuple[list["Project"], list[str]]:
    """The projects of a parent, and the ids that are listed twice. Such a list is read again.

    In every healthy list, the second would be another's.
    """
    for _ in range(_LOOKS):
        listed = list(_list_children(clients, parent, "projects"))
        counted = Counter(project.project_id for project in listed if project.project_id)
        twice = sorted(name for name, count in counted.items() if count > 1)
        if not twice:
            break
    return listed, twice


def _project(answer: "Project", parent: str) -> Iterator[str | FailedTarget]:
    """The id of an active project, or why it cannot be read; nothing for one that is being deleted."""
    place = f"a project of {parent}"
    try:
        if _state(answer) not in {_ACTIVE, _LEAVING}:
            raise bad_answer(f"state is {_state(answer)}", str(answer), call=LIST_PROJECTS, place=place)
        name = _id_of(answer, place)
    except BadAnswer as error:
        yield FailedTarget(name=answer.project_id or parent, error=error)
        return
    if _state(answer) == _ACTIVE:
        yield name


def _state(answer: "Project | Folder") -> int:
    """Its state, which may be one that this version does not know."""
    return int(type(answer).pb(answer).state)


def _list_children(clients: Clients, parent: str, kind: Literal["projects", "folders"]) -> Iterator[Any]:
    """The children of a parent. An empty list is asked for once more."""
    from google.cloud import resourcemanager_v3 as api  # noqa: PLC0415  # most audits name their projects

    named, permission = kind == "projects", LIST_PROJECTS if kind == "projects" else LIST_FOLDERS
    listed = PagedList(
        clients=clients,
        what=f"list the {kind} of {parent}",
        place=parent,
        permission=permission,
        purpose=PROJECT_LISTING,
        deadline=clients.list_deadline(),
        size=lambda page: len(getattr(page, kind)),
        doubtful=lambda size: not size,
    )
    call = clients.projects.list_projects if named else clients.folders.list_folders
    request = (api.ListProjectsRequest if named else api.ListFoldersRequest)(parent=parent, page_size=_PAGE)
    for page in listed.pages(call, request):
        yield from getattr(page, kind)
