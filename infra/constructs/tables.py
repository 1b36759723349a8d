"""Tables: what was recommended before, and claims on what only one may do at a time."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.names import Names


class Tables(Construct):
    """The history by place and volume, and the coordination, whose items go when they have expired."""

    def __init__(self, scope: Construct, *, names: Names, key: kms.IKey | None) -> None:
        super().__init__(scope, "Tables")
        self.history = _table(self, "History", names.history, key, partition="place", sort="volume_id", stays=True)
        self.coordination = _table(
            self,
            "Coordination",
            names.coordination,
            key,
            partition="id",
            expires="expiration",
            stays=False,
        )


def _table(
    scope: Construct,
    construct: str,
    name: str,
    key: kms.IKey | None,
    *,
    partition: str,
    stays: bool,
    sort: str | None = None,
    expires: str | None = None,
) -> dynamodb.Table:
    text = dynamodb.AttributeType.STRING
    return dynamodb.Table(
        scope,
        construct,
        table_name=name,
        partition_key=dynamodb.Attribute(name=partition, type=text),
        sort_key=dynamodb.Attribute(name=sort, type=text) if sort else None,
        time_to_live_attribute=expires,
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        encryption=dynamodb.TableEncryption.CUSTOMER_MANAGED if key else dynamodb.TableEncryption.DEFAULT,
        encryption_key=key,
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        deletion_protection=stays,
        removal_policy=RemovalPolicy.RETAIN if stays else RemovalPolicy.DESTROY,
    )
