from dataclasses import replace

from plimsoll.domain.policy import SizeOn
from tests.builders import US_EAST_1, a_demand, a_host, a_market, a_policy, a_volume, decision


def said(volume, demand, policy=None, *, market=None):
    return " | ".join(decision(volume, demand, policy, market=market).reasons)


QUIET = a_demand(iops=400, throughput_mib_s=20)


def test_a_change_says_the_demand_the_need_and_what_rests_on_proof():
    text = said(a_volume("gp2", 500), QUIET)
    assert "Peak demand over 48 hours, in buckets of 1 minute: 400 IOPS, 20.0 MiB/s." in text
    assert (
        "gp3 500 GiB 3,000 IOPS 125 MiB/s carries the need of 480 IOPS and 24.0 MiB/s, 20 % headroom included." in text
    )
    assert (
        "Drop-in replacement: gp3 500 GiB 3,000 IOPS 250 MiB/s can do everything this volume can do today, and saves "
        "$5.00 a month. What the offer saves beyond that rests on the measured demand." in text
    )


def test_drop_in_that_costs_more_is_said_to():
    assert "and costs $1.00 a month more. What the offer saves" in said(a_volume("gp2", 200), QUIET)


def test_a_bare_flip_that_would_give_less_is_named_with_its_price():
    text = said(a_volume("gp2", 1000), a_demand(iops=400, throughput_mib_s=150))
    assert "Changing the type alone would give gp3 1,000 GiB 3,000 IOPS 125 MiB/s for $80.00 a month" in text
    assert "the type alone" not in said(a_volume("gp2", 1000), QUIET)


def test_a_quantile_and_a_coarser_resolution_are_said():
    text = said(a_volume(), a_demand(iops=10, resolution_s=300), a_policy(peak_quantile=0.999))
    assert "99.9th percentile of demand over 48 hours, in buckets of 5 minutes" in text


def test_censored_demand_is_said_to_be():
    text = said(a_volume("gp2", 1000), a_demand(iops=[3000.0], buckets=3000))
    assert "Demand is censored: it stood at the volume's ceiling for 1 minutes and at the host's for 0." in text
    assert "throttled on IOPS often" not in text


def test_a_resource_that_is_throttled_often_is_named():
    assert "throttled on IOPS often enough to act" in said(a_volume("gp3"), a_demand(iops=3000))
    assert "throttled on throughput often enough to act" in said(a_volume("gp3"), a_demand(throughput_mib_s=125))


def test_what_the_host_cannot_use_is_said_to_be_waste():
    wasted = a_volume("io2", 2000, iops=100_000, on=a_host("m5.large"))
    text = said(wasted, a_demand(iops=100))
    assert "provisioned for 100,000 IOPS, and its host carries 18,750 at most. The rest is waste" in text
    assert "provisioned for 4,000 MiB/s, and its host carries 566 at most. The rest is waste" in text
    assert "waste" not in said(a_volume("io2", 2000, iops=1000), a_demand(iops=100))


def test_a_volume_that_is_kept_is_told_of_its_waste_too():
    kept = a_volume("gp2", 16_384, on=a_host("m4.large"))
    text = said(kept, a_demand(iops=10), a_policy(min_saving_usd_month=1e6))
    assert "provisioned for 16,000 IOPS, and its host carries 3,600 at most. The rest is waste" in text


def test_a_host_that_was_the_bottleneck_is_named():
    text = said(a_volume("gp2", 5334, on=a_host("m4.large")), a_demand(iops=[3600.0] * 3, buckets=3000))
    assert "The host was the bottleneck in 3 minutes. A larger volume does not help there" in text


def test_micro_bursts_are_shown_with_whether_they_size_the_offer():
    bursts = a_demand(
        iops=[300.0], iops_exceeded=[True, *[False] * 2999], busy_share=[0.1, *[1.0] * 2999], buckets=3000
    )
    does_not = said(a_volume("gp3", 500, iops=4000), bursts)
    assert "While busy, the rate was up to 3,000 IOPS, which does not size the offer (size_on)." in does_not
    does = said(a_volume("gp3", 500, iops=4000), bursts, a_policy(size_on=SizeOn.BUSY_TIME))
    assert "which sizes the offer (size_on)." in does


def test_latency_and_durability_given_up_are_said():
    text = said(a_volume("io2", 500, iops=5000), QUIET)
    assert "given up: latency of under a millisecond for single-digit milliseconds." in text
    assert "given up: durability of 99.999 % for 99.8 %." in text
    assert "given up" not in said(a_volume("gp2", 500), QUIET)


def test_a_type_that_is_billed_by_operation_is_said_to_be():
    assert "billed by operation as well" in said(a_volume("standard", 100), a_demand(iops=50))


def test_gaps_of_an_hour_are_said_and_shorter_ones_are_not():
    seen = [index >= 60 or index == 0 for index in range(3000)]
    assert "gaps of 1.0 hours" not in said(a_volume(), a_demand(iops=1, observed=seen, buckets=3000))
    seen[60] = False
    assert "gaps of 1.0 hours, which count as unknown." in said(
        a_volume(), a_demand(iops=1, observed=seen, buckets=3000)
    )


def test_why_a_volume_is_kept_comes_first():
    beyond_all = a_demand(iops=[16_000.0] * 30, buckets=3000)
    nothing_fits = said(a_volume("gp2", 6000), beyond_all, a_policy(target_types=("gp2",)))
    assert nothing_fits.startswith("No offer that the policy allows carries the need on this host.")
    little = said(a_volume("gp2", 40), a_demand(iops=10))
    assert little.startswith(
        "gp3 40 GiB 3,000 IOPS 125 MiB/s would save $0.80 a month, less than the policy asks for: $1.00"
    )


def test_without_price_and_hours_both_are_said():
    answer = decision(a_volume(), a_demand(iops=1, buckets=60), market=a_market(replace(US_EAST_1, types={})))
    assert len(answer.reasons) == 2


def test_bursts_that_a_minute_hides_from_a_smaller_offer_are_named_as_a_risk():
    volume = a_volume("io1", 500, iops=10_000)
    bursting = a_demand(iops=500, throughput_mib_s=8, busy_share=0.05)
    assert "Risk: while busy, the volume may have reached 10,000 IOPS" in said(volume, bursting)
    assert "Risk:" not in said(volume, bursting, a_policy(size_on=SizeOn.BUSY_TIME))
