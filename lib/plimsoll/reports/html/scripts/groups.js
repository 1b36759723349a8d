// Groups: what the listed volumes save by one thing, as bars that lead to their volumes.

const GROUPS = 12;
const MOST_VALUES = 100;
const BY = { account: 'account', region: 'region', owner: 'owner', type: 'present type', template: 'template' };

const valuesOf = (row, by) => (by.startsWith('tag:')
  ? row.tags.filter((tag) => tag.startsWith(`${by.slice(4)}=`)).map((tag) => tag.slice(by.length - 3)) : [row[by]]);

// The keys of tags by which volumes can be told apart into groups that are fewer than volumes.
function tagKeys(rows) {
  const found = new Map();
  for (const tag of rows.flatMap((row) => row.tags)) {
    const key = tag.slice(0, tag.indexOf('='));
    if (!found.has(key)) found.set(key, new Set());
    found.get(key).add(tag);
  }
  return new Map([...found].filter(([, tags]) => tags.size <= MOST_VALUES).sort());
}

function fillGroups(rows) {
  const offered = Object.entries(BY).filter(([by]) => by !== 'template' || rows.some((row) => row.template));
  const tags = tagKeys(rows);
  find('#filters [name=group]').append(...offered.map(([value, words]) => element('option', { value }, words)),
    ...[...tags.keys()].map((key) => element('option', { value: `tag:${key}` }, `tag ${cut(key, 40)}`)));
  find('#filters [name=tag]').append(...[...tags.values()].flatMap((found) => [...found].sort(COLLATOR.compare))
    .map((value) => element('option', { value }, cut(value, 60))));
  find('#filters [name=tag]').closest('label').hidden = !tags.size;
  find('#filters [name=template]').closest('label').hidden = !rows.some((row) => row.template);
}

function drawGroups(place) {
  const holder = find('#groups'), by = place.group;
  holder.hidden = !by;
  if (!by) return;
  const groups = new Map();
  for (const row of shown.rows) {
    const values = valuesOf(row, by);
    for (const value of values.length ? values : ['']) {
      const group = groups.get(value) || { value, volumes: 0, saved: 0, dropIn: 0 };
      group.volumes += 1;
      if (row.counts_as !== 'cost' && row.saved > 0) {
        group.saved += row.saved;
        group.dropIn += row.drop_in || 0;
      }
      groups.set(value, group);
    }
  }
  const ordered = [...groups.values()].sort((one, other) => other.saved - one.saved || COLLATOR.compare(one.value, other.value));
  const most = Math.max(...ordered.map((one) => one.saved), 0.01);
  const filter = (value) => (by.startsWith('tag:') ? { tag: `${by.slice(4)}=${value}` } : { [by]: value });
  const label = (one) => (one.value ? element('a', { href: addressOf({ ...place, ...filter(one.value) }) }, named(cut(one.value, 60))) : 'none');
  const bar = (one) => element('span', { class: 'gauge', 'aria-hidden': 'true' },
    element('span', { class: 'drop-in', style: `width: ${(Math.min(one.dropIn, one.saved) / most) * 100}%` }),
    element('span', { class: 'proof', style: `width: ${(Math.max(0, one.saved - one.dropIn) / most) * 100}%` }));
  const row = (one) => [label(one), whole(one.volumes), usd(one.saved), bar(one)];
  const words = BY[by] || `tag ${by.slice(4)}`;
  const left = ordered.length - GROUPS;
  holder.replaceChildren(table(`Savings by ${words}: dark is saved by same-limits replacements`, [words], ['volumes', 'saves a month'],
    ordered.slice(0, GROUPS).map(row), ['share']),
  left > 0 ? element('p', { class: 'soft' }, `and ${whole(left)} more, which save less`) : '');
  reachable(holder);
}
