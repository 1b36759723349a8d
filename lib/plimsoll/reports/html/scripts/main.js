// The page begins: rows are read, and what the address asks for is shown.

const view = { rows: [], byKey: new Map(), scroll: 0 };

// The row that an address names: by account, region and id, or by an id that no other volume has.
function rowAt(named) {
  const byId = () => view.rows.filter((row) => row.id === named);
  return view.byKey.get(named) || (named && byId().length === 1 ? byId()[0] : undefined);
}

function show() {
  const place = readPlace();
  const row = rowAt(place.volume);
  const fleet = find('#fleet'), volume = find('#volume');
  const before = shown.address;
  if (row && !fleet.hidden) view.scroll = scrollY;
  fillFilters(place);
  drawTable(view.rows, place);
  if (row) {
    fleet.hidden = true;
    volume.hidden = false;
    showVolume(volume, row, place);
    return;
  }
  const back = fleet.hidden ? volume.dataset.key : null;
  fleet.hidden = false;
  volume.hidden = true;
  volume.replaceChildren();
  document.title = view.title;
  if (place.volume) {
    const several = view.rows.some((one) => one.id === place.volume);
    tell(several ? `There are several volumes ${cut(place.volume, 60)} in this report: search for it and open the one you mean.`
      : `There is no volume ${cut(place.volume, 60)} in this report.`);
  }
  if (back) {
    const link = find(`#table [data-key="${CSS.escape(back)}"] a`);
    if (link) scrollTo({ top: view.scroll, behavior: 'instant' });
    else find('#volumes').scrollIntoView();
    (link || find('#filters [name=q]')).focus({ preventScroll: true });
  } else if (before !== undefined && before !== shown.address && !find('#filters').contains(document.activeElement)
    && !find('#table').contains(document.activeElement)) {
    find('#volumes').scrollIntoView();
    find('#volumes').focus({ preventScroll: true });
  }
}

function fillFilters(place) {
  for (const key of FILTERS) {
    const input = find(`#filters [name=${key}]`);
    if (place[key] && input.options && ![...input.options].some((one) => one.value === place[key])) {
      input.append(element('option', { value: place[key] }, cut(place[key], 60)));
    }
    if (input !== document.activeElement || key !== 'q') input.value = place[key];
    if (place[key] && input.closest('details')) input.closest('details').open = true;
  }
}

function listen() {
  const filters = find('#filters');
  const asked = () => ({ ...readPlace(), volume: '', ...Object.fromEntries(new FormData(filters)) });
  filters.addEventListener('input', (event) => goTo(asked(), event.target.name !== 'q'));
  filters.addEventListener('submit', (event) => event.preventDefault());
  filters.addEventListener('reset', () => goTo({ ...readPlace(), ...Object.fromEntries(FILTERS.map((key) => [key, ''])) }));
  find('#table thead').addEventListener('click', (event) => {
    const key = event.target.closest('th')?.dataset.sort;
    if (!key) return;
    const place = readPlace();
    const first = SETTINGS.falling.includes(key) ? `-${key}` : key;
    goTo({ ...place, sort: place.sort === first ? (first === key ? `-${key}` : key) : first }, false);
  });
  find('#pick-all').addEventListener('change', (event) => pickAll(event.target.checked));
  find('#more').addEventListener('click', () => {
    const first = shown.count;
    drawMore(readPlace());
    find('#table tbody').children[first]?.querySelector('a').focus();
  });
  addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && readPlace().volume) goTo({ ...readPlace(), volume: '' });
  });
}

// A link inside the page moves to its place without touching the address, which says what is shown.
function jump(event) {
  const link = event.target.closest('a.jump');
  if (!link) return;
  event.preventDefault();
  const target = link.id === 'skip' && !find('#volume').hidden ? find('#volume') : find(link.getAttribute('href'));
  target?.scrollIntoView();
  target?.focus({ preventScroll: true });
}

async function begin() {
  view.title = document.title;
  beginTheme(() => redrawCharts());
  document.addEventListener('click', jump);
  for (const button of document.querySelectorAll('button[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', () => copyFrom(button, button.dataset.copy, 'the command'));
  }
  if (!find('#table')) return;
  find('#count').textContent = 'Reading the volumes…';
  Object.assign(SETTINGS, await unpacked(find('#settings').textContent).json());
  view.rows = await readRows();
  view.byKey = new Map(view.rows.map((row) => [row.key, row]));
  fillChoices(view.rows);
  if (find('#take')) takeButtons(find('#take'), view.rows.filter((row) => row.step === 'safe'));
  find('#filters').hidden = false;
  find('#table').hidden = false;
  listen();
  addEventListener('hashchange', show);
  fromQuery();
  show();
}

begin();
