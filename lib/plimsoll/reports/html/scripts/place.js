// What is shown is in the address after #, so that it can be sent, and the back button undoes it.

const FILTERS = ['step', 'cloud', 'account', 'region', 'owner', 'type', 'grade', 'risk', 'losses', 'template', 'tag', 'group', 'q'];
const FIRST_SORT = '-saved';

function readPlace() {
  const found = new URLSearchParams(location.hash.includes('=') ? location.hash.slice(1) : '');
  const place = { volume: found.get('volume') || '', sort: found.get('sort') || FIRST_SORT };
  for (const key of FILTERS) place[key] = found.get(key) || '';
  return place;
}

// A link may name what it filters by before the # as well: report.html?owner=payments.
function fromQuery() {
  const asked = new URLSearchParams(location.search);
  const found = FILTERS.filter((key) => asked.get(key));
  if (location.hash || !found.length) return;
  goTo({ ...readPlace(), ...Object.fromEntries(found.map((key) => [key, asked.get(key)])) }, false);
}

function addressOf(place) {
  const kept = new URLSearchParams();
  for (const key of [...FILTERS, 'sort', 'volume']) {
    if (place[key] && !(key === 'sort' && place.sort === FIRST_SORT)) kept.set(key, place[key]);
  }
  return `#${kept.toString() || 'all='}`;
}

// `keep` adds a step for the back button; without it the present one is replaced, as while typing.
function goTo(place, keep = true) {
  const address = addressOf(place);
  if (keep) location.hash = address;
  else location.replace(address);
}
