"""The part of a service's configuration that names projects, and how its AWS roles become known to Google."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.model.policy import Policy
    from plimsoll_google.federation import FederationConfig


class ProjectConfig(Protocol):
    """The projects in scope by id, by folder and by organization, and in which regions (none: all)."""

    @property
    def google_projects(self) -> Sequence[str]: ...
    @property
    def google_folders(self) -> Sequence[str]: ...
    @property
    def google_organizations(self) -> Sequence[str]: ...
    @property
    def google_regions(self) -> Sequence[str]: ...
    @property
    def google_credentials(self) -> FederationConfig | None: ...
    @property
    def audits_google(self) -> bool: ...
    @property
    def parsed_policy(self) -> Policy: ...
