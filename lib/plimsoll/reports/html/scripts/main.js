// The page begins: rows are read, and what the address asks for is shown.

const view = { rows: [], byId: new Map(), scroll: 0 };

function show() {
  const place = readPlace();
  const row = view.byId.get(place.volume);
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
  const back = fleet.hidden ? volume.dataset.id : null;
  fleet.hidden = false;
  volume.hidden = true;
  volume.replaceChildren();
  document.title = view.title;
  if (place.volume) tell(`There is no volume ${cut(place.volume, 60)} in this report.`);
  if (back) {
    scrollTo({ top: view.scroll, behavior: 'instant' });
    find(`#table [data-id="${CSS.escape(back)}"] a`)?.focus({ preventScroll: true });
  } else if (before !== undefined && before !== shown.address && !find('#filters').contains(document.activeElement)
    && !find('#table').contains(document.activeElement)) {
    find('#volumes').scrollIntoView();
    find('#volumes').focus({ preventScroll: true });
  }
}

function fillFilters(place) {
  for (const key of FILTERS) {
    const input = find(`#filters [name=${key}]`);
    if (input !== document.activeElement || key !== 'q') input.value = place[key];
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
  view.byId = new Map(view.rows.map((row) => [row.id, row]));
  fillChoices(view.rows);
  find('#filters').hidden = false;
  find('#table').hidden = false;
  listen();
  addEventListener('hashchange', show);
  show();
}

begin();
