"""The scope of an audit: which clouds, accounts and regions it covers."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from plimsoll.clouds.aws.names import AUDIT_ROLE
from plimsoll.clouds.registry import AWS, cloud_named, cloud_of_region
from plimsoll.model.errors import BadInput

ASKS_EXTERNAL_ID: Final = "asks_external_id"
"""Says in a run.json that its roles ask for an external id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which clouds, accounts and regions an audit covers, and a price file to use instead of their price lists.

    What is named twice is covered once, or its volumes and their money would count twice.

    Accounts are those of the profiles (the default credentials where no profile is named) and of the roles. With one of
    `organization`, `units` or `accounts`, those accounts take the place of the profiles'. Each is entered by its role
    `role_name`, and the caller's own account by the caller's credentials.

    Google's projects are those named, those under the folders, and those under the organizations. Without any of the
    three it is the environment's own project.
    """

    profiles: tuple[str, ...] = ()
    role_arns: tuple[str, ...] = ()
    external_id: str | None = None
    organization: bool = False
    units: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    role_name: str = AUDIT_ROLE
    regions: tuple[str, ...] = ()
    prices: str | None = None
    clouds: tuple[str, ...] = (AWS,)
    projects: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    google_organizations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(one.default, tuple):
                if isinstance(value, str):
                    raise BadInput(f"{one.name} of a scope is {value!r}: give a tuple, such as ({value!r},).")
                values = [item.strip() for item in value]
                if "" in values:
                    raise BadInput(
                        f"a name among the {one.name.replace('_', ' ')} is empty: name one, or leave it out."
                    )
                lower = [item.lower() for item in values] if one.name == "regions" else values
                object.__setattr__(self, one.name, tuple(dict.fromkeys(lower)))

    def regions_of(self, cloud: str) -> tuple[str, ...]:
        """The regions to read of a cloud, empty for all of them: where several clouds are asked, each has its own."""
        if len(self.clouds) == 1:
            return self.regions
        return tuple(region for region in self.regions if cloud_of_region(region, self.clouds).name == cloud)

    @property
    def names_members(self) -> bool:
        """True if the scope is about accounts of an Organization."""
        return self.organization or bool(self.units or self.accounts)

    def as_dict(self) -> dict[str, object]:
        """The scope for run.json: without the external id, but with whether there is one."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
        del plain["external_id"]
        return {**plain, ASKS_EXTERNAL_ID: self.external_id is not None}

    @classmethod
    def from_dict(cls, found: Mapping[str, object], *, external_id: str | None = None) -> "Scope":
        """The scope in a run.json, with that external id; what it does not say is as in a scope that names nothing.

        BadInput where the run was begun with an external id, and none is given.
        """
        written = {"google_organizations": found.get("gcp_organizations"), **found}
        given: dict[str, Any] = {}
        for one in fields(cls):
            value = written.get(one.name)
            if value and isinstance(value, list) == isinstance(one.default, tuple):
                given[one.name] = tuple(map(str, value)) if isinstance(value, list) else value
        if "clouds" in given:
            given["clouds"] = tuple(_present_name(name) for name in given["clouds"])
        if external_id is not None:
            given["external_id"] = external_id
        elif found.get(ASKS_EXTERNAL_ID) and "external_id" not in given:
            raise BadInput("the run was begun with an external id, which is not kept: give --external-id again.")
        return cls(**given)


def _present_name(cloud: str) -> str:
    """The name of a cloud in this version; earlier runs say `gcp`. An unknown name stays."""
    found = cloud_named(cloud)
    return cloud if found is None else found.name
