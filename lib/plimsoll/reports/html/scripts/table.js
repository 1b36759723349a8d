// The table of volumes: a hundred rows at a time of those that the filters leave, in the order asked for.

const ROWS = 100;
const COLLATOR = new Intl.Collator('en', { numeric: true });
const shown = { rows: [], count: 0 };

function matching(rows, place) {
  const words = place.q.toLowerCase().split(/\s+/).filter(Boolean);
  const exact = FILTERS.filter((key) => key !== 'q' && place[key]);
  return rows.filter((row) =>
    exact.every((key) => row[key] === place[key]) && words.every((word) => row.found.includes(word)));
}

function inOrder(rows, sort) {
  const descending = sort.startsWith('-');
  const key = descending ? sort.slice(1) : sort;
  const value = (row) => (key === 'volume' ? row.name || row.id : key === 'step' ? Object.keys(SETTINGS.steps).indexOf(row.step) : row[key]);
  const compare = (one, other) => {
    const left = value(one), right = value(other);
    if (!known(left) || !known(right)) return known(left) ? -1 : known(right) ? 1 : 0;
    const order = typeof left === 'number' ? left - right : COLLATOR.compare(left, right);
    return descending ? -order : order;
  };
  return [...rows].sort((one, other) => compare(one, other) || COLLATOR.compare(one.id, other.id));
}

function rowElement(row, place) {
  const cell = (label, kind, ...children) => element('td', { role: 'cell', 'data-label': label, class: kind }, children);
  const name = row.name ? row.name.replace(/\s+/g, ' ') : row.id;
  const link = element('a', { href: addressOf({ ...place, volume: row.key }), title: name.length > 48 ? name : null },
    named(cut(name, 48)));
  return element('tr', { role: 'row', 'data-key': row.key },
    element('th', { scope: 'row', role: 'rowheader' }, link,
      row.name ? element('span', { class: 'id' }, row.id) : null),
    cell('where', null, row.account, element('span', { class: 'soft' }, ...zonesOf(row.zone))),
    cell('from', null, row.from),
    cell('to', null, row.to || element('span', { class: 'soft' }, 'no change')),
    cell('saves a month', 'number', usd(row.saved)),
    cell('drop-in', 'number soft', known(row.saved) ? usd(row.drop_in) : ''),
    cell('evidence', null, row.grade ? element('span', { class: `grade ${row.grade}`, title: SETTINGS.grades[row.grade] }, row.grade) : ''),
    cell('step', null, element('span', { class: `tag ${row.step}` }, SETTINGS.steps[row.step].name),
      row.blockers ? element('span', { class: 'soft' }, row.blockers) : null),
    cell('change', 'do', row.change ? copyButton(row.change, `the change of ${cut(name, 48)}`) : ''));
}

function drawMore(place) {
  const next = shown.rows.slice(shown.count, shown.count + ROWS);
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
  for (const head of document.querySelectorAll('#table th[data-sort]')) {
    const key = head.dataset.sort;
    head.setAttribute('aria-sort', place.sort === key ? 'ascending' : place.sort === `-${key}` ? 'descending' : 'none');
  }
  find('#count').textContent = `${whole(shown.rows.length)} of ${whole(rows.length)} volumes${moneyOfRows(shown.rows)}`;
}

// Counted as everywhere: what a throttled volume costs more stands apart, and what is attached to nothing saves nothing.
function moneyOfRows(rows) {
  let saved = 0, more = 0;
  for (const row of rows) {
    if (row.step === 'throttled' && row.saved < 0) more -= row.saved;
    else if (row.step !== 'detached') saved += row.saved || 0;
  }
  const told = [];
  if (saved >= 0.005) told.push(`saving ${usd(saved)} a month`);
  if (more >= 0.005) told.push(`${usd(more)} a month more for throttled volumes`);
  return told.map((one) => `, ${one}`).join('');
}

// A volume of two zones has both, joined by a plus, behind which a line may end.
function zonesOf(zone) {
  return zone.split('+').flatMap((one, at) => (at ? ['+', element('wbr'), one] : [one]));
}

function fillChoices(rows) {
  for (const key of ['cloud', 'account', 'region', 'owner', 'type']) {
    const values = [...new Set(rows.map((row) => row[key]))].sort(COLLATOR.compare);
    find(`#filters [name=${key}]`).append(...values.map((value) => element('option', { value }, cut(value, 60))));
  }
}
