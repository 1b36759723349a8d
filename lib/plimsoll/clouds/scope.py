"""The scope of an audit: which clouds, accounts and regions it covers."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.clouds.aws.names import AUDIT_ROLE
from plimsoll.clouds.registry import AWS, cloud_named, cloud_of_region


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which clouds, accounts and regions an audit covers, and a price file to use instead of their price lists.

    Accounts are those of the profiles (the default credentials where no profile is named) and of the roles. With one of
    `organization`, `units` or `accounts`, those accounts take the place of the profiles'. Each is entered by its role
    `role_name`, and the caller's own account by the caller's credentials.

    Google's projects are those named, those under the folders, and those under the organizations. Without any of the
    three it is the environment's own project.
    """

    clouds: tuple[str, ...] = (AWS,)
    profiles: tuple[str, ...] = ()
    role_arns: tuple[str, ...] = ()
    external_id: str | None = None
    organization: bool = False
    units: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    role_name: str = AUDIT_ROLE
    regions: tuple[str, ...] = ()
    prices: str | None = None
    projects: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    google_organizations: tuple[str, ...] = ()

    def regions_of(self, cloud: str) -> tuple[str, ...]:
        """The regions to read of a cloud, empty for all of them: where several clouds are asked, each has its own."""
        if len(self.clouds) == 1:
            return self.regions
        return tuple(region for region in self.regions if cloud_of_region(region, self.clouds).name == cloud)

    @property
    def names_members(self) -> bool:
        """Whether it is about accounts of an Organization."""
        return self.organization or bool(self.units or self.accounts)

    def as_dict(self) -> dict[str, object]:
        """The scope for run.json."""
        return {
            "profiles": list(self.profiles),
            "role_arns": list(self.role_arns),
            "external_id": self.external_id,
            "organization": self.organization,
            "units": list(self.units),
            "accounts": list(self.accounts),
            "role_name": self.role_name,
            "regions": list(self.regions),
            "prices": self.prices,
            "clouds": list(self.clouds),
            "projects": list(self.projects),
            "folders": list(self.folders),
            "google_organizations": list(self.google_organizations),
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, object]) -> "Scope":
        """The scope in a run.json."""

        def words(key: str) -> tuple[str, ...]:
            value = found.get(key)
            return tuple(str(word) for word in value) if isinstance(value, list) else ()

        external_id, prices = found.get("external_id"), found.get("prices")
        return cls(
            profiles=words("profiles"),
            role_arns=words("role_arns"),
            external_id=None if external_id is None else str(external_id),
            organization=bool(found.get("organization")),
            units=words("units"),
            accounts=words("accounts"),
            role_name=str(found.get("role_name") or AUDIT_ROLE),
            regions=words("regions"),
            prices=None if prices is None else str(prices),
            clouds=tuple(_present_name(one) for one in words("clouds")) or (AWS,),
            projects=words("projects"),
            folders=words("folders"),
            google_organizations=words("google_organizations") or words("gcp_organizations"),
        )


def _present_name(cloud: str) -> str:
    """What this version calls a cloud that a run names: runs of earlier versions say `gcp`."""
    found = cloud_named(cloud)
    return cloud if found is None else found.name
