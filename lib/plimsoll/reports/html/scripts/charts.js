// The pictures of a volume: the page has how they are drawn once, and each volume its figures.

const drawn = new Map();
let drawing = null;
// A layer without a point, such as the throttled spans of a volume that never was, is no reason to warn.
const ERRORS = 1;
const NARROW = 560;

function spansOf(profile) {
  let start = profile.start_s * 1000;
  const lists = Object.keys(profile).filter((key) => Array.isArray(profile[key]));
  return profile.length_s.map((length_s, place) => {
    const span = { start, end: start + length_s * 1000 };
    for (const key of lists) span[key] = profile[key][place];
    start = span.end;
    return span;
  });
}

// What draws is large, and unpacked when the first picture is wanted.
function drawer() {
  drawing ??= unpacked(find('#drawer').textContent).text().then((text) => {
    document.head.append(element('script', {}, text));
    return window.vegaEmbed;
  });
  return drawing;
}

// Every view of a picture is as much wider or narrower as the room is than what it was made for.
function fit(view, more) {
  if (typeof view.width === 'number') view.width = Math.max(120, view.width + more);
  for (const part of [...(view.vconcat || []), ...(view.layer || [])]) fit(part, more);
}

// Where there is little room, what a legend lists stands under each other.
function stackLegends(part) {
  for (const [key, value] of Object.entries(part || {})) {
    if (key === 'legend' && value) value.columns = 1;
    else if (typeof value === 'object') stackLegends(value);
  }
}

async function draw(holder, kind, detail, theme) {
  const embed = await drawer();
  const room = holder.clientWidth || Math.min(innerWidth - 48, 1000);
  const spec = structuredClone(SETTINGS.specs[kind][theme]);
  fit(spec, room - SETTINGS.width);
  if (room < NARROW) stackLegends(spec);
  spec.datasets = { spans: spansOf(detail.profile), ...detail.pictures[kind].datasets };
  const made = element('div', { 'aria-hidden': 'true' });
  const { finalize } = await embed(made, spec, { actions: false, renderer: 'svg', ast: true, logLevel: ERRORS, tooltip: { theme } });
  drawn.get(holder)?.();
  drawn.set(holder, finalize);
  holder.replaceChildren(made);
}

function chartOf(kind, detail) {
  const picture = detail.pictures[kind];
  if (!picture) return null;
  const screen = element('div', { class: 'drawing', role: 'img', 'aria-label': `${picture.title}. ${picture.subtitle}` });
  const paper = element('div', { class: 'drawing paper', 'aria-hidden': 'true' });
  const figure = element('figure', { class: 'chart' },
    element('figcaption', {}, element('strong', {}, picture.title), ' ', element('span', { class: 'soft' }, picture.subtitle)),
    screen, paper);
  // Paper is white: a dark page keeps a light picture for it.
  figure.redraw = async () => {
    figure.classList.toggle('twice', dark());
    await draw(screen, kind, detail, dark() ? 'dark' : 'light');
    if (dark()) await draw(paper, kind, detail, 'light');
  };
  return figure;
}

function forgetCharts() {
  for (const finalize of drawn.values()) finalize();
  drawn.clear();
}

async function redrawCharts() {
  for (const figure of document.querySelectorAll('#volume figure.chart')) await figure.redraw();
}

function daysTable(profile) {
  const days = new Map();
  for (const span of spansOf(profile)) {
    if (!known(span.iops)) continue;
    const day = new Date(span.start).toISOString().slice(0, 10);
    const found = days.get(day) || { seconds: 0, iops: 0, mib: 0, peakIops: 0, peakMib: 0, throttled: 0, hostBound: 0 };
    found.seconds += span.length_s;
    found.iops += span.iops * span.length_s;
    found.mib += span.throughput_mib_s * span.length_s;
    found.peakIops = Math.max(found.peakIops, span.peak_iops || 0);
    found.peakMib = Math.max(found.peakMib, span.peak_throughput_mib_s || 0);
    found.throttled += span.throttled_minutes;
    found.hostBound += span.host_bound_minutes;
    days.set(day, found);
  }
  const figures = ['mean IOPS', 'busiest IOPS', 'mean MiB/s', 'busiest MiB/s', 'throttled, minutes', 'at the host, minutes'];
  return table('Demand by day', ['day, UTC'], figures,
    [...days].map(([day, found]) => [day, tenths(found.iops / found.seconds), tenths(found.peakIops),
      tenths(found.mib / found.seconds), tenths(found.peakMib), whole(found.throttled), whole(found.hostBound)]));
}

function measuredTable(measured) {
  return table('Measurements', ['measured', 'mode'], ['I/O, KiB', 'IOPS', 'MiB/s', 'p99 latency, µs'],
    measured.map((one) => [named(one.label), one.mode, tenths(one.io_size_kib), whole(one.iops),
      tenths(one.throughput_mib_s), whole(one.p99_latency_us)]));
}

const folded = (words, content) => element('details', {}, element('summary', {}, words), content);
