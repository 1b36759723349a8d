"""The dashboard: what audits found, how the service does, and the demand of chosen volumes."""

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.constructs.alarms import own_metric
from infra.constructs.volume_alarms import WatchedVolume

_DAY = Duration.days(1)
_ROW = 24
"""The width of a dashboard."""


class Dashboard(Construct):
    """One dashboard, from what was found to how it was found."""

    def __init__(
        self,
        scope: Construct,
        *,
        name: str,
        machine: sfn.StateMachine,
        alarms: Sequence[cloudwatch.IAlarm],
        volumes: Sequence[WatchedVolume],
    ) -> None:
        super().__init__(scope, "Dashboard")
        board = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=name, default_interval=Duration.days(56))
        board.add_widgets(
            _daily_graph(name, "To be saved, USD a month", "savings_usd", "Maximum"),
            _daily_graph(name, "Volumes audited", "volumes", "Sum"),
            _daily_graph(name, "Cost of the audits' calls, USD", "audit_usd", "Sum"),
            _daily_graph(name, "Scope covered, percent of its places", "scope_covered_pct", "Minimum"),
        )
        board.add_widgets(
            cloudwatch.GraphWidget(
                title="What failed",
                left=[own_metric(name, each, period=_DAY) for each in ("failures", "failed_targets", "throttles")],
                width=_ROW // 4,
            ),
            cloudwatch.GraphWidget(
                title="Promises: volumes that throttled since they were changed",
                left=[
                    own_metric(name, each, statistic="Maximum", period=_DAY)
                    for each in ("throttled_since_changed", "expected_to_throttle")
                ],
                width=_ROW // 4,
            ),
            cloudwatch.GraphWidget(
                title="Audits",
                left=[machine.metric_succeeded(period=_DAY), machine.metric_failed(period=_DAY)],
                right=[machine.metric_time(period=_DAY, statistic="Maximum")],
                width=_ROW // 4,
            ),
            cloudwatch.GraphWidget(
                title="Validations",
                left=[
                    own_metric(name, each, period=_DAY)
                    for each in ("validations", "validations_passed", "failed_validations")
                ]
                + [
                    own_metric(name, each, period=_DAY, statistic="Maximum")
                    for each in ("scratch_alive", "scratch_unswept")
                ],
                width=_ROW // 4,
            ),
        )
        board.add_widgets(cloudwatch.AlarmStatusWidget(title="Alarms", alarms=list(alarms), width=_ROW))
        for volume in volumes:
            board.add_widgets(_demand(volume))


def _daily_graph(service: str, title: str, metric: str, statistic: str) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(
        title=title, left=[own_metric(service, metric, statistic=statistic, period=_DAY)], width=_ROW // 4
    )


def _demand(volume: WatchedVolume) -> cloudwatch.GraphWidget:
    """A graph as the console's link in a report shows it: IOPS on the left, MiB/s on the right, with the ceilings."""
    return cloudwatch.GraphWidget(
        title=f"Demand of {volume.volume_id}",
        left=[volume.iops_demand],
        left_annotations=[cloudwatch.HorizontalAnnotation(value=volume.iops, label="IOPS that it carries")],
        right=[volume.throughput_demand],
        right_annotations=[
            cloudwatch.HorizontalAnnotation(value=volume.throughput_mib_s, label="MiB/s that it carries")
        ],
        width=_ROW,
    )
