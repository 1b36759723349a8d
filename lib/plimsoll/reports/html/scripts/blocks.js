// The volumes, in blocks that are unpacked when they are needed: rows at once, details as they are opened.

const DETAILS = [...document.querySelectorAll('script.details')];
const opened = new Map();
const OPEN_AT_MOST = 8;
const SETTINGS = {};

function unpacked(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
}

async function readRows() {
  const rows = [], today = Date.parse(find('#table').dataset.day);
  const blocks = await Promise.all([...document.querySelectorAll('script.rows')].map((holder) => {
    const columns = unpacked(holder.textContent).json();
    holder.remove();
    return columns;
  }));
  for (const [block, columns] of blocks.entries()) {
    const keys = Object.keys(columns);
    columns.id.forEach((_, place) => {
      const row = { block, place };
      for (const key of keys) row[key] = columns[key][place];
      row.key = keyOf(row.account, row.region, row.id);
      row.age = row.created ? Math.max(0, Math.floor((today - Date.parse(row.created)) / 86400000)) : null;
      row.found = [row.id, row.name, row.owner, row.host, row.account, row.zone, row.template, ...row.tags].join('\n').toLowerCase();
      rows.push(row);
    });
  }
  return rows;
}

function readDetail(row) {
  if (!opened.has(row.block)) {
    if (opened.size >= OPEN_AT_MOST) opened.delete(opened.keys().next().value);
    opened.set(row.block, unpacked(DETAILS[row.block].textContent).json());
  }
  return opened.get(row.block).then((details) => {
    const detail = details[row.place];
    return { ...detail, profile: detail.profile && withRates(detail.profile) };
  });
}

// The rates of a profile are written as steps above a least one, each beside another series or its own past.
function withRates(profile) {
  const { step, least, beside } = SETTINGS.rates;
  const steps = {};
  const rates = {};
  for (const [name, other] of Object.entries(beside)) {
    let past = 0;
    steps[name] = profile[name].map((one, at) => {
      if (one === null) return null;
      const found = one + (other ? steps[other][at] ?? 0 : past);
      past = found;
      return found;
    });
    rates[name] = steps[name].map((one) => (one ? Number((least * step ** (one - 1)).toPrecision(3)) : one));
  }
  return { ...profile, ...rates };
}
