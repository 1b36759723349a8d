control "nothing_given_up" {
  title       = "No volume costs more than a drop-in replacement that is recommended"
  description = "A drop-in replacement lowers no limit, and gives nothing else up."
  severity    = "high"
  sql         = <<-EOQ
    select
      volume_id as resource,
      case when step = 'safe' then 'alarm' else 'ok' end as status,
      case
        when step = 'safe' then format('{} saves {:.2f} USD a month with nothing given up', volume_id, monthly_usd_saved)
        else volume_id || ' has no drop-in replacement that is recommended'
      end as reason,
      account,
      region
    from recommendations
    order by monthly_usd_saved desc
  EOQ
}

control "proved" {
  title       = "No volume is larger than its measured demand asks for"
  description = "The recommended size carries the measured demand, and measurements stand behind it."
  severity    = "medium"
  sql         = <<-EOQ
    select
      volume_id as resource,
      case
        when step in ('proved', 'trade') then 'alarm'
        when step in ('unknown', 'wait') then 'skip'
        else 'ok'
      end as status,
      case
        when step in ('proved', 'trade') then format('{} saves {:.2f} USD a month', volume_id, monthly_usd_saved)
        when step in ('unknown', 'wait') then volume_id || ' cannot be judged yet'
        else volume_id || ' has nothing to give back'
      end as reason,
      account,
      region
    from recommendations
    order by monthly_usd_saved desc
  EOQ
}

control "throttled" {
  title       = "No volume holds its workload back"
  description = "The workload waits for the disk: its demand stood at the ceiling."
  severity    = "high"
  sql         = <<-EOQ
    select
      volume_id as resource,
      case when demand is null then 'skip' when action = 'upgrade' then 'alarm' else 'ok' end as status,
      case
        when demand is null then volume_id || ' has no metrics'
        else format('{} was throttled for {:.0f} minutes', volume_id, demand.throttled_minutes)
      end as reason,
      account,
      region
    from recommendations
    order by demand.throttled_minutes desc nulls last
  EOQ
}

control "detached" {
  title       = "No volume is paid for and attached to nothing"
  description = "Only the owner knows whether it is needed."
  severity    = "low"
  sql         = <<-EOQ
    select
      volume_id as resource,
      case when action = 'detached' then 'alarm' else 'ok' end as status,
      case
        when action <> 'detached' then volume_id || ' is attached, or is not judged by that'
        when monthly_usd_now is null then volume_id || ' is attached to nothing, and its price is not known'
        else format('{} costs {:.2f} USD a month and is attached to nothing', volume_id, monthly_usd_now)
      end as reason,
      account,
      region
    from recommendations
    order by monthly_usd_now desc nulls last
  EOQ
}

control "measured" {
  title       = "No recommended change needs a measurement first"
  description = "Where published limits alone stand behind a change, measure first."
  severity    = "low"
  sql         = <<-EOQ
    select
      volume_id as resource,
      case when step = 'measure' then 'alarm' when target is null or target = current then 'skip' else 'ok' end as status,
      case
        when step = 'measure' then volume_id || ' is to be measured first: plimsoll validate --recommendation'
        when target is null or target = current then volume_id || ' needs no change'
        else volume_id || ' needs no measurement first'
      end as reason,
      account,
      region
    from recommendations
  EOQ
}
