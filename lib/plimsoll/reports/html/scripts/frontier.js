// What each budget of throttled minutes would cost, and what the volume was when.

const lasting = (seconds) => (seconds < 90 ? `${whole(seconds)} s` : `${whole(seconds / 60)} min`);

// A picture in a table: bars to compare by eye, and the figures beside them.
function frontierOf(record) {
  const most = Math.max(...record.frontier.map((step) => step.monthly_usd));
  const bound = (step) => (step.at_most ? 'at most ' : '');
  const bar = (step) => element('span', { class: 'price', style: `width: ${(step.monthly_usd / most * 100).toFixed(1)}%` });
  const rows = record.frontier.map((step) => [tenths(step.budget_min), `${bound(step)}${usd(step.monthly_usd)}`,
    bar(step), specText(step.spec), step.longest_wait_s > 0 ? `${bound(step)}${lasting(step.longest_wait_s)}` : 'none']);
  return section('The price of the last minute', 'frontier',
    element('p', {}, 'The cheapest configuration for each number of throttled minutes in 30 days, and the longest wait.'),
    table('USD a month by throttled minutes in 30 days', ['minutes'], ['USD a month'], rows, ['', 'configuration', 'longest wait']));
}

function epochsTable(record) {
  if (record.epochs.length < 2) return null;
  const moment = (text) => text.slice(0, 16).replace('T', ' ');
  return table('Earlier configurations', ['from, UTC'], ['minutes throttled'],
    record.epochs.map((one) => [moment(one.start), whole(one.throttled_minutes), specText(one.spec) || 'not known',
      known(one.ceiling_iops) ? `${whole(one.ceiling_iops)} IOPS, ${whole(one.ceiling_throughput_mib_s)} MiB/s` : 'not known']),
    ['configuration', 'could carry']);
}

// How the volume and its host answered: what a change is checked against afterwards.
function signalsTable(signals) {
  if (!signals) return null;
  const of = (key) => [signals[`mean_${key}`], signals[`highest_${key}`]];
  const levels = [['latency of reads, ms', of('read_latency_ms')], ['latency of writes, ms', of('write_latency_ms')],
    ['latency, ms', of('io_latency_ms')], ['operations in the queue', of('queue_length')]].filter(([, [mean]]) => known(mean));
  if (!levels.length) return null;
  return table('How it answered', ['signal'], ['mean', 'highest minute'],
    levels.map(([label, [mean, highest]]) => [label, hundredths(mean), hundredths(highest)]));
}

function signalFacts(signals) {
  if (!signals) return [];
  const told = [[signals.stalled_minutes, 'minutes in which no operation ended'],
    [signals.degraded_minutes, 'minutes in which the cloud called it impaired'],
    [signals.host_iops_exceeded_minutes, "minutes above the host's IOPS"],
    [signals.host_throughput_exceeded_minutes, "minutes above the host's throughput"]];
  return told.filter(([minutes]) => minutes > 0).map(([minutes, what]) => `${whole(minutes)} ${what}`);
}
