"""Compute Optimizer's own recommendations for the EBS volumes of an account and region, checked as they are read."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from plimsoll.clouds.aws.ec2_fields import Count, Name, PlainFigure
from plimsoll.clouds.aws.errors import COMPARING, translate_errors
from plimsoll.clouds.aws.lists import Asker, BadPage, CamelAnswer, Page
from plimsoll.clouds.aws.names import ACCOUNT_ID, REGION_NAME, VOLUME_ID
from plimsoll.clouds.aws.volume_answers import check_figures
from plimsoll.clouds.common.answers import bad_answer, read_answer
from plimsoll.clouds.common.dated_data import sold_figures
from plimsoll.clouds.registry import AWS
from plimsoll.model.errors import BadAnswer, Unexpected
from plimsoll.model.volume import VolumeSpec
from plimsoll.ports import Advice, Target, UnreadVolume

CALL: Final = "compute-optimizer:GetEBSVolumeRecommendations"
_A_PAGE: Final = 1000
_USD: Final = "USD"

Amount = Annotated[float, Field(allow_inf_nan=False)]


class ConfigurationAnswer(CamelAnswer):
    """A configuration. Baseline figures stand there also if the type does not sell them."""

    volume_type: Name
    volume_size: Count
    volume_baseline_iops: PlainFigure | None = Field(default=None, alias="volumeBaselineIOPS")
    volume_baseline_throughput: PlainFigure | None = None

    @property
    def spec(self) -> VolumeSpec:
        """The configuration as volumes have it. ValueError for one that cannot be."""
        stated = VolumeSpec(
            type=self.volume_type,
            size_gib=self.volume_size,
            iops=self.volume_baseline_iops,
            throughput_mib_s=self.volume_baseline_throughput,
        )
        spec = sold_figures(stated, AWS)
        check_figures("configuration.", spec)
        return spec


class MoneyAnswer(CamelAnswer):
    """An amount a month."""

    currency: Name
    value: Amount


class SavingsAnswer(CamelAnswer):
    """The savings of an option."""

    estimated_monthly_savings: MoneyAnswer | None = None


class OptionAnswer(CamelAnswer):
    """An option; that of the first rank is recommended."""

    configuration: ConfigurationAnswer
    performance_risk: Annotated[Amount, Field(ge=0, le=4)] | None = None
    rank: Count
    savings_opportunity: SavingsAnswer | None = None

    @property
    def usd_month_saved(self) -> float | None:
        """The savings at list prices; None if there are none in USD."""
        money = self.savings_opportunity and self.savings_opportunity.estimated_monthly_savings
        return money.value if money and money.currency == _USD else None


class VolumeRecommendationAnswer(CamelAnswer):
    """The recommendation for a volume; one without options recommends no change."""

    volume_arn: Annotated[str, Field(pattern=rf"^arn:[a-z-]+:ec2:{REGION_NAME}:{ACCOUNT_ID}:volume/{VOLUME_ID}$")]
    current_configuration: ConfigurationAnswer
    finding: Literal["Optimized", "NotOptimized"]
    look_back_period_in_days: Annotated[Amount, Field(gt=0)]
    volume_recommendation_options: Annotated[
        tuple[OptionAnswer, ...], BeforeValidator(lambda options: () if options is None else options)
    ] = ()

    @property
    def place(self) -> str:
        """The account and region in its ARN, as targets are written."""
        _, _, _, region, account, _ = self.volume_arn.split(":")
        return f"{account}/{region}"

    def advice(self, target: Target) -> Advice:
        """The same as advice for a volume of that target. ValueError for a configuration that cannot be."""
        first = min(self.volume_recommendation_options, key=lambda option: option.rank, default=None)
        current = self.current_configuration.spec
        return Advice(
            account=target.account,
            region=target.region,
            volume_id=self.volume_arn.rpartition("/")[2],
            current=current,
            target=current if first is None else first.configuration.spec,
            usd_month_saved=0.0 if first is None else first.usd_month_saved,
            performance_risk=None if first is None else first.performance_risk,
            days=self.look_back_period_in_days,
        )


class ErrorAnswer(CamelAnswer):
    """A volume that Compute Optimizer could not answer for."""

    identifier: Name
    code: Name
    message: str = ""


class RecommendationsPage(Page):
    """A page of GetEBSVolumeRecommendations. Its entries are read one by one: a wrong one costs only itself."""

    model_config = ConfigDict(alias_generator=to_camel, defer_build=True)

    volume_recommendations: tuple[Any, ...]
    errors: tuple[ErrorAnswer, ...] = ()


def read_advice(client: Any, target: Target, asker: Asker) -> Iterator[Advice | UnreadVolume]:
    """Every recommendation of a target, and what of them cannot be read. Raises CloudError."""
    with translate_errors(f"read {target}", CALL, COMPARING):
        for page in asker.each_page(
            RecommendationsPage,
            client.get_ebs_volume_recommendations,
            CALL,
            asks_with="nextToken",
            maxResults=_A_PAGE,
        ):
            if isinstance(page, BadPage):
                if page.number == 1 and page.is_last:
                    raise page.error
                yield UnreadVolume(id=None, error=page.error, what=page.lost_part("the recommendations"))
                continue
            for raw in page.volume_recommendations:
                yield _read_entry(raw, target)
            for fault in page.errors:
                error = Unexpected(f"Compute Optimizer has no answer ({fault.code}: {fault.message}).")
                yield UnreadVolume(id=fault.identifier.rpartition("/")[2], error=error)


def _read_entry(raw: Any, target: Target) -> Advice | UnreadVolume:
    """An entry as advice, or why it cannot be read: it must be of the target, and be possible."""
    try:
        answer = read_answer(VolumeRecommendationAnswer, raw, call=CALL, place=str(target))
    except BadAnswer as error:
        return UnreadVolume(id=None, error=error, what="a recommendation")
    volume_id = answer.volume_arn.rpartition("/")[2]
    try:
        if answer.place != str(target):
            raise ValueError(f"volumeArn is of {answer.place}")  # noqa: TRY301  # one sentence for both faults
        return answer.advice(target)
    except ValueError as error:
        return UnreadVolume(id=volume_id, error=bad_answer(str(error), raw, call=CALL, place=str(target)))
