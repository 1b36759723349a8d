"""A third cloud in memory: a package and one row of the registry, and nothing else of Plimsoll knows of it."""

from plimsoll.clouds.registry import Cloud, CloudWords

ROW = Cloud(
    name="third",
    package="tests.third_cloud",
    account_id=r"TENANT-[0-9]+",
    region_name=r"zone-[a-z]+",
    volume_id=r"disk-[0-9]+",
    words=CloudWords(
        cloud="Third Cloud",
        account="tenant",
        account_option="--tenant",
        monitoring="Third Metrics",
        shown="opens its console",
        call="ReadMetrics",
        quotas="its quotas",
        price="its price list",
        way_back="It can be changed back at any time.",
    ),
)
