// The drill-down: one volume as a page of its own, so that it reads, prints and is sent like one.

function headOf(row, record, detail) {
  const name = record.name || record.volume_id;
  const place = [record.volume_id, `${detail.account} ${record.account}`, record.zone,
    record.hosts.length ? `on ${record.hosts.join(', ')}` : 'attached to nothing', `owner: ${cut(row.owner, 120)}`];
  return [
    element('h1', { id: 'volume-title' }, named(cut(name, 120))),
    name.length > 120 ? element('p', { class: 'soft long' }, named(name)) : null,
    element('p', { class: 'soft place' }, place.map((text) => element('span', {}, named(text)))),
  ];
}

function answerOf(row, record, detail) {
  const step = SETTINGS.steps[row.step];
  const alternative = dropInOf(row, record);
  const lines = [element('p', { class: 'verdict' }, verdictOf(record))];
  const money = moneyOf(record);
  if (money) lines.push(element('p', { class: 'money' }, money));
  const isDropIn = alternative && row.step === 'safe' && sameSpec(record.drop_in.spec, record.target);
  if (alternative && !isDropIn) lines.push(element('p', { class: 'drop-in' }, alternative));
  const why = isDropIn ? alternative : step.why.replaceAll('{seen}', record.demand ? `the ${hours(record.demand.hours_observed)} observed` : '');
  lines.push(element('p', { class: 'reason' }, element('span', { class: `tag ${step.color}` }, step.name), ' ', why));
  for (const loss of detail.losses) lines.push(element('p', { class: 'loss' }, `Gives up ${loss}.`));
  for (const blocker of record.blockers) lines.push(element('p', { class: 'blocker' }, `Blocked: ${blocker.text}`));
  if (row.change) {
    lines.push(element('p', { class: 'actions' },
      copyButton(row.change, 'the change', 'Copy the change'), ' ', element('a', { href: '#change', class: 'jump' }, 'read it first')));
  }
  return element('section', { class: `verdicts ${row.step} ${step.color}`, 'aria-label': 'The answer' }, lines);
}

function verdictOf(record) {
  const fills = { now: specText(record.current), target: record.target && specText(record.target), until: record.wait && record.wait.until };
  return SETTINGS.kinds[record.action].verdict.replace(/{(\w+)}/g, (_, name) => fills[name]);
}

const stays = (record) => SETTINGS.kinds[record.action].counts_as === 'same';

function moneyOf(record) {
  if (!known(record.monthly_usd_now)) return 'No price known for the present volume';
  const now = `${usd(record.monthly_usd_now)} a month now`;
  if (record.wait && record.wait.monthly_usd_saved > 0) {
    return `${now}; ${specText(record.wait.expected)} may then save ${usd(record.wait.monthly_usd_saved)}`;
  }
  if (record.too_risky) {
    const [spec, saved] = [specText(record.too_risky.spec), usd(record.too_risky.monthly_usd_saved)];
    const { risk } = record.too_risky;
    const chance = risk && known(risk.promised_pct) ? `a risk of ${risk.promised_pct} %` : 'a risk that is not known';
    const kept = stays(record) ? now : `${now}, ${usd(record.monthly_usd_then)} then: ${changeOfBill(record.monthly_usd_saved)}`;
    return `${kept}; not recommended: ${spec} would save ${saved} a month at ${chance}`;
  }
  if (!record.target || stays(record)) return now;
  const saved = record.monthly_usd_saved;
  return `${now}, ${usd(record.monthly_usd_then)} then: ${changeOfBill(saved)}`;
}

// The risk of the reduction that is recommended, or of the one that is left out because of it.
const shownRisk = (record) => record.risk || (record.too_risky ? record.too_risky.risk : null);

// The same-limits replacement; a throttled volume needs more than one can do.
function dropInOf(row, record) {
  if (!record.drop_in || !record.target || stays(record) || row.step === 'throttled') return null;
  const keeps = 'keeps the IOPS and MiB/s of today';
  if (sameSpec(record.drop_in.spec, record.target)) return `Same limits: it ${keeps}, so no demand has to be proved.`;
  const saved = record.monthly_usd_saved_drop_in;
  return `Same-limits replacement: ${specText(record.drop_in.spec)} ${keeps}, for ${usd(record.drop_in.monthly_usd)} a month. `
    + (saved >= 0.005 ? `It saves ${usd(saved)}.` : 'It saves nothing.');
}

function section(title, id, ...children) {
  return element('section', { 'aria-labelledby': id }, element('h2', { id, tabindex: '-1' }, title), children);
}

const list = (texts) => element('ul', {}, texts.map((text) => element('li', {}, text)));

function demandTable(demand) {
  const bound = (most, least) => (most === least ? tenths(most) : `at most ${tenths(most)}, at least ${tenths(least)}`);
  const row = (label, iops, mib_s) => (known(iops) ? [[label, tenths(iops), tenths(mib_s)]] : []);
  return table('Demand in figures', ['demand'], ['IOPS', 'MiB/s'], [
    ['peak', bound(demand.peak_iops, demand.least_peak_iops), bound(demand.peak_throughput_mib_s, demand.least_peak_throughput_mib_s)],
    ...row('peak while busy, at most', demand.peak_busy_iops, demand.peak_busy_throughput_mib_s),
    ...row('busiest seconds, at most', demand.peak_second_iops, demand.peak_second_throughput_mib_s),
    ...row('mean', demand.mean_iops, demand.mean_throughput_mib_s),
  ]);
}

function judgedBy(demand, profile) {
  const spans = { 60: 'minute', 300: 'five minutes', 3600: 'hour' };
  const coarser = profile && profile.shortest_s.some((length) => length > demand.resolution_s);
  return `judged by the ${spans[demand.resolution_s] || `${whole(demand.resolution_s)} seconds`}`
    + (coarser ? '; where that could not matter, longer spans were read' : '');
}

function observedOf(demand) {
  const { hours_observed: seen, hours_expected: expected } = demand;
  return known(expected) && expected > seen ? `${hours(seen)} of ${hours(expected)} observed` : `${hours(seen)} observed`;
}

function demandFacts(demand, profile, signals) {
  const facts = [`${observedOf(demand)}, ${judgedBy(demand, profile)}`,
    `${whole(demand.throttled_minutes)} minutes at the volume's ceiling, ${whole(demand.host_bound_minutes)} at its host's`];
  if (demand.gap_hours) facts.push(`${tenths(demand.gap_hours)} hours are missing in the metrics`);
  const lacking = Object.entries(demand.series_received_pct || {}).filter(([, pct]) => pct < 100);
  if (lacking.length) facts.push(`received of ${lacking.map(([name, pct]) => `${name} ${tenths(pct)} %`).join(', ')}`);
  if (demand.disputed_hours) facts.push(`${tenths(demand.disputed_hours)} hours are disputed`);
  if (known(demand.mean_io_size_kib)) facts.push(`mean operation ${tenths(demand.mean_io_size_kib)} KiB`);
  if (known(demand.read_share)) facts.push(`${tenths(demand.read_share * 100)} % reads`);
  if (demand.censored) facts.push('demand stood at a ceiling, so the true demand is at least this');
  return list([...facts, ...signalFacts(signals)]);
}

function ceilingsTable(record) {
  const { ceilings } = record;
  const rows = [];
  const add = (label, found) => {
    rows.push([label, whole(found.iops), whole(found.sustained_iops),
      whole(found.throughput_mib_s), whole(found.sustained_throughput_mib_s)]);
    if (known(found.write_iops) || known(found.write_throughput_mib_s)) {
      const either = (write, read) => whole(known(write) ? write : read);
      rows.push([`${label}, writes alone`, either(found.write_iops, found.iops), '',
        either(found.write_throughput_mib_s, found.throughput_mib_s), '']);
    }
  };
  add('the volume now', ceilings.now);
  if (ceilings.offered && !stays(record)) add('the volume as offered', ceilings.offered);
  add('its host at most', ceilings.hosts);
  return table('Limits; more than sustained only while credits last', ['ceiling'],
    ['IOPS', 'sustained IOPS', 'MiB/s', 'sustained MiB/s'], rows);
}

function replayTable(record) {
  const { replay } = record;
  const rows = [['the volume now', tenths(replay.throttled_minutes_now), tenths(replay.worst_delay_s_now)]];
  if (known(replay.throttled_minutes_then) && record.target && !stays(record)) rows.push(['the volume as offered', tenths(replay.throttled_minutes_then), tenths(replay.worst_delay_s_then)]);
  return table('Replay: the demand, with more where it was held back, pushed through the ceilings', ['through'],
    ['minutes throttled', 'longest wait, s'], rows);
}

const DROP_IN = 'the same-limits replacement: it keeps the IOPS and MiB/s of today';
const RELIEF = 'would end the throttling; that is a decision of its own';

function whyNotChosen(offer, record) {
  const then = record.monthly_usd_then;
  if (!known(offer.monthly_usd) || !known(then)) return 'carries it, but no price is known';
  if (offer.monthly_usd > then + 0.005) return 'carries it, but costs more';
  if (offer.monthly_usd > then - 0.005) return 'carries it for the same money';
  if (stays(record)) return 'carries it, but saves less than the policy asks for';
  if (record.wait) return 'carries what was seen so far';
  return record.drop_in && sameSpec(record.drop_in.spec, record.target)
    ? 'carries it and is cheaper, but depends on measured use' : 'carries it and is cheaper; see the reasons above';
}

function offersTable(record) {
  const is = (offer, other) => Boolean(other) && sameSpec(offer.spec, other.spec);
  const chosen = (offer) => record.target && sameSpec(offer.spec, record.target);
  const whyNot = (offer) => {
    if (offer.refused.length) return offer.refused.length === 1 ? offer.refused[0] : list(offer.refused);
    if (chosen(offer)) return element('strong', {}, stays(record) ? 'kept' : 'chosen');
    if (is(offer, record.wait && { spec: record.wait.expected })) return 'expected, once it can be judged';
    if (is(offer, record.too_risky)) return 'carries it and is cheaper, but its risk is above what the policy allows, or not known';
    if (is(offer, record.relief)) return RELIEF;
    return is(offer, record.drop_in) ? DROP_IN : whyNotChosen(offer, record);
  };
  const besides = (offer) => (is(offer, record.drop_in) && (chosen(offer) || is(offer, record.relief)) ? `; ${DROP_IN}` : '');
  const further = [record.drop_in, record.relief].filter((one) => one && !record.offers.some((offer) => is(offer, one)));
  const price = (offer) => offer.monthly_usd ?? Infinity;
  const sorted = [...record.offers, ...further].sort((one, other) => (price(one) < price(other) ? -1 : Number(price(one) > price(other))));
  const rows = sorted.map((offer) => [(chosen(offer) ? '→ ' : '') + specText(offer.spec), usd(offer.monthly_usd),
    `${whole(offer.ceiling_iops)} IOPS, ${whole(offer.ceiling_throughput_mib_s)} MiB/s`, [whyNot(offer), besides(offer)]]);
  return table('Every configuration considered, the cheapest first', ['configuration'], ['USD a month'], rows, ['carries', 'result']);
}

function evidenceOf(evidence) {
  return [
    element('p', {}, element('span', { class: `grade ${evidence.grade}` }, evidence.grade), ' ', SETTINGS.grades[evidence.grade]),
    element('p', {}, evidence.text),
    evidence.envelope ? element('p', { class: 'soft' }, 'Envelope: ', named(evidence.envelope)) : null,
    (evidence.sources || []).length ? element('p', { class: 'soft' }, 'Source: ', named(evidence.sources.join('; '))) : null,
  ];
}

// Another volume of the same account and region.
const linkTo = (record, id) => element('a', { href: addressOf({ ...readPlace(), volume: keyOf(record.account, record.region, id) }) }, id);

function stripesOf(record) {
  const set = record.stripe_set;
  const money = known(set.monthly_usd_saved) ? `All of it costs ${usd(set.monthly_usd_now)} a month now, and then ${changeOfBill(set.monthly_usd_saved)}.`
    : 'The saving of all of it is not known.';
  return section('Its stripe set', 'stripes',
    element('p', {}, named(`${set.name} (${set.level}) on ${set.host}`), set.mounts.length ? `, mounted at ${set.mounts.join(', ')}` : '',
      '. Its volumes carry the load together: change all of them or none. ', money),
    element('ul', {}, set.members.map((id) => element('li', {}, linkTo(record, id),
      set.held_back_by[id] ? `: held back, ${set.held_back_by[id]}` : ''))));
}

function poolOf(record) {
  return section('Volumes that share its limit', 'pool',
    element('p', {}, 'These volumes of its host carry the load together with it: change all of them or none.'),
    element('ul', {}, record.pool.map((id) => element('li', {}, linkTo(record, id)))));
}

function changeOf(row, detail) {
  const parts = [];
  if (row.change) {
    parts.push(element('p', { class: 'actions' }, copyButton(row.change, 'the change')),
      element('pre', { tabindex: '0', 'aria-label': 'The change' }, row.change));
  } else parts.push(element('p', {}, 'There is nothing to change.'));
  if (row.way_back) parts.push(folded('The way back', element('pre', { tabindex: '0', 'aria-label': 'The way back' }, row.way_back)));
  return section('How to change it', 'change', parts);
}

function measuredOf(detail) {
  const measured = detail.pictures.roofline?.datasets.measured || [];
  return measured.length ? folded('The measured points in figures', measuredTable(measured)) : null;
}

function consoleOf(link, seen) {
  if (!link.startsWith('https://')) return null;
  return element('p', {}, element('a', { href: link, target: '_blank', rel: 'noopener noreferrer' }, `See this demand in ${seen.in}`),
    element('span', { class: 'soft' }, ` (${seen.as})`));
}

function bodyOf(row, detail) {
  const { record } = detail;
  return [
    headOf(row, record, detail), answerOf(row, record, detail),
    shownRisk(record) ? section('How likely it is outgrown', 'risk', element('p', {}, shownRisk(record).text)) : null,
    section('Demand', 'demand',
      record.demand ? [chartOf('demand', detail),
        element('div', { class: 'pair' }, demandTable(record.demand), demandFacts(record.demand, detail.profile, record.signals)),
        signalsTable(record.signals), epochsTable(record),
        detail.profile ? folded('The picture in figures', daysTable(detail.profile)) : null]
        : element('p', {}, 'Its metrics were not read.'),
      consoleOf(detail.link, detail.seen)),
    record.ceilings ? section('Limits', 'ceilings', chartOf('roofline', detail), measuredOf(detail),
      element('div', { class: 'pair' }, ceilingsTable(record), record.replay ? replayTable(record) : null)) : null,
    record.offers.length ? section('Why this and not another', 'offers', offersTable(record)) : null,
    section('Why', 'why', list(record.reasons)),
    record.frontier.length ? frontierOf(record) : null,
    record.evidence ? section('Evidence', 'evidence', evidenceOf(record.evidence)) : null,
    record.seconds_seen ? section('Seen by the second', 'seconds', secondsOf(record.seconds_seen)) : null,
    record.stripe_set ? stripesOf(record) : null,
    record.pool.length ? poolOf(record) : null,
    changeOf(row, detail),
  ];
}

// What the latest probe saw: its lines are those of explain.
function secondsOf(seen) {
  return [element('p', { class: 'soft' }, seen.title), list(seen.lines)];
}

function wayBack(row, place) {
  const at = shown.rows.indexOf(row);
  const step = (label, other) => (other
    ? element('a', { href: addressOf({ ...place, volume: other.key }) }, label) : element('span', { class: 'soft' }, label));
  return element('nav', { 'aria-label': 'Volumes', class: 'way' },
    element('a', { href: addressOf({ ...place, volume: '' }), class: 'back' }, '← All volumes'),
    at < 0 ? null : element('span', {}, step('previous', shown.rows[at - 1]), ` ${whole(at + 1)} of ${whole(shown.rows.length)} `,
      step('next', shown.rows[at + 1])));
}

async function showVolume(holder, row, place) {
  holder.dataset.key = row.key;
  const detail = await readDetail(row);
  if (rowAt(readPlace().volume) !== row) return;
  document.title = `${cut(row.name || row.id, 60)} – Plimsoll`;
  forgetCharts();
  holder.replaceChildren(wayBack(row, place), ...bodyOf(row, detail).flat().filter(Boolean));
  reachable(holder);
  scrollTo({ top: 0, behavior: 'instant' });
  holder.focus({ preventScroll: true });
  await redrawCharts();
}
