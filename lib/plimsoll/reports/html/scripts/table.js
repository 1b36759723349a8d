// The table of volumes: a few rows first and then a hundred at a time, of those that the filters leave, in the order asked for.

const FIRST_ROWS = 25;
const ROWS = 100;
const COLLATOR = new Intl.Collator('en', { numeric: true });
const shown = { rows: [], count: 0 };

function matching(rows, place) {
  const words = place.q.toLowerCase().split(/\s+/).filter(Boolean);
  const exact = FILTERS.filter((key) => !['q', 'group'].includes(key) && place[key]);
  return rows.filter((row) =>
    exact.every((key) => (MATCHES[key] || isIt)(row, place[key], key)) && words.every((word) => row.found.includes(word)));
}

const isIt = (row, value, key) => row[key] === value;

// An owner is a tool with its name, the name alone, or the team that a tag names.
const MATCHES = {
  tag: (row, value) => row.tags.includes(value),
  risk: (row, value) => row.risk_level === value,
  losses: (row, value) => row.losses.includes(value),
  owner: (row, value) => row.owner === value || row.owner.endsWith(` ${value}`)
    || row.tags.some((tag) => /^(owner|team)=/i.test(tag) && tag.slice(tag.indexOf('=') + 1) === value),
};

function inOrder(rows, sort) {
  const descending = sort.startsWith('-');
  const key = descending ? sort.slice(1) : sort;
  const value = (row) => (key === 'volume' ? row.name || row.id : key === 'step' ? Object.keys(SETTINGS.steps).indexOf(row.step)
    : key === 'losses' ? row.losses.join(' ') : row[key]);
  const compare = (one, other) => {
    const left = value(one), right = value(other);
    if (!known(left) || !known(right)) return known(left) ? -1 : known(right) ? 1 : 0;
    const order = typeof left === 'number' ? left - right : COLLATOR.compare(left, right);
    return descending ? -order : order;
  };
  return [...rows].sort((one, other) => compare(one, other) || COLLATOR.compare(one.id, other.id));
}

// A configuration whose figures stay on a line with their units, and its type with the arrow.
const unbroken = (spec) => spec.replace(/ (?=GiB|IOPS|MiB)|(?<=→) /g, '\u00a0');

function rowElement(row, place) {
  const cell = (label, kind, ...children) => element('td', { role: 'cell', 'data-label': label, class: kind }, children);
  const name = row.name ? row.name.replace(/\s+/g, ' ') : row.id;
  const link = element('a', { href: addressOf({ ...place, volume: row.key }), title: name.length > 48 ? name : null },
    named(cut(name, 48)));
  return element('tr', { role: 'row', 'data-key': row.key },
    cell('', 'pick', pickBox(row, cut(name, 48))),
    element('th', { scope: 'row', role: 'rowheader' }, link,
      row.name ? element('span', { class: 'id' }, row.id) : null),
    cell('where', 'where', row.account, element('span', { class: 'soft' }, ...zonesOf(row.zone)),
      element('span', { class: 'soft besides' }, hostsOf(row.host)),
      element('span', { class: 'soft besides' }, known(row.age) ? `${ageText(row.age)} old` : '')),
    cell('host', 'host', hostsOf(row.host)),
    cell('age', 'age', ageText(row.age)),
    cell('change', 'what', unbroken(row.from), row.to ? [' ', element('span', { class: 'to' }, unbroken(`→ ${row.to}`))] : ''),
    cell('costs a month', 'now', usd(row.now)),
    cell('saves a month', 'number', known(row.saved) && row.saved < 0 ? `costs ${usd(-row.saved)}` : usd(row.saved),
      known(row.saved) && row.drop_in >= 0.005 && row.drop_in < row.saved - 0.005
        ? element('span', { class: 'soft' }, `same limits ${usd(row.drop_in)}`) : null),
    cell('risk', 'risk', riskOf(row)),
    cell('gives up', 'losses', row.losses.filter((code) => code !== 'none').join(', ')),
    cell('evidence', 'proof', row.grade ? element('span', { class: `grade ${row.grade}`, title: SETTINGS.grades[row.grade] }, row.grade) : ''),
    cell('step', 'at', element('span', { class: `tag ${SETTINGS.steps[row.step].color}` }, SETTINGS.steps[row.step].name),
      row.blockers ? element('span', { class: 'soft' }, row.blockers) : null),
    cell('copy', 'do', row.change ? copyButton(row.change, `the change of ${cut(name, 48)}`) : ''));
}

// No risk where no limit is lowered; what is not known is said.
function riskOf(row) {
  if (!row.risk_level || row.risk_level === 'none') return row.risk_level || '';
  const pct = known(row.risk) ? `${row.risk} %` : 'not known';
  return row.risk_level === 'above' ? element('strong', { title: SETTINGS.risks.above }, pct) : pct;
}

function drawMore(place) {
  const next = shown.rows.slice(shown.count, shown.count + (shown.count ? ROWS : FIRST_ROWS));
  find('#table tbody').append(...next.map((row) => rowElement(row, place)));
  shown.count += next.length;
  const left = shown.rows.length - shown.count;
  const more = find('#more');
  more.hidden = left === 0;
  find('#printed').textContent = left ? `Printed: the first ${whole(shown.count)} of ${whole(shown.rows.length)} volumes.` : '';
  more.textContent = `Show ${whole(Math.min(ROWS, left))} more of ${whole(left)}`;
}

function drawTable(rows, place) {
  const same = shown.address === addressOf({ ...place, volume: '' });
  shown.address = addressOf({ ...place, volume: '' });
  if (same) return;
  shown.rows = inOrder(matching(rows, place), place.sort);
  shown.count = 0;
  find('#table tbody').replaceChildren();
  drawMore(place);
  drawGroups(place);
  drawActions();
  for (const head of document.querySelectorAll('#table th[data-sort]')) {
    const key = head.dataset.sort;
    head.setAttribute('aria-sort', place.sort === key ? 'ascending' : place.sort === `-${key}` ? 'descending' : 'none');
  }
  const count = `${whole(shown.rows.length)} of ${whole(rows.length)} volumes`;
  find('#count').textContent = shown.rows.length ? `${count}: ${moneyOfRows(shown.rows)}` : `Nothing matches these filters: ${count}.`;
  find('#table').hidden = !shown.rows.length;
}

// Counted as everywhere: what a throttled volume costs more stands apart, and a cost saves nothing.
function moneyOfRows(rows) {
  let now = 0, saved = 0, more = 0;
  for (const row of rows) {
    now += row.now || 0;
    if (row.counts_as === 'more' && row.saved < 0) more -= row.saved;
    else if (row.counts_as !== 'cost') saved += row.saved || 0;
  }
  const told = [`${usd(now)} a month${rows.some((row) => !known(row.now)) ? ' where a price is known' : ''}`];
  if (saved >= 0.005) told.push(`saving ${usd(saved)} a month`);
  if (more >= 0.005) told.push(`${usd(more)} a month more for throttled volumes`);
  return told.join(', ');
}

// The first host, and how many more.
const hostsOf = (hosts) => {
  const [first, ...others] = hosts.split(' ');
  return first ? [first, others.length ? element('span', { class: 'soft', title: hosts }, `and ${whole(others.length)} more`) : null] : 'none';
};

// A volume of two zones has both, joined by a plus, behind which a line may end.
function zonesOf(zone) {
  return zone.split('+').flatMap((one, at) => (at ? ['+', element('wbr'), one] : [one]));
}

function fillChoices(rows) {
  for (const key of ['cloud', 'account', 'region', 'owner', 'type', 'template']) {
    const values = [...new Set(rows.map((row) => row[key]))].filter(Boolean).sort(COLLATOR.compare);
    find(`#filters [name=${key}]`).append(...values.map((value) => element('option', { value }, cut(value, 60))));
  }
  fillGroups(rows);
}
