// What is taken away: changes to the clipboard or as files, and rows as a table.

const picked = new Set();

// What an action is about: the selected rows of those that are listed, or all of them.
function chosenRows() {
  const found = shown.rows.filter((row) => picked.has(row.key));
  return found.length ? found : shown.rows;
}

// What is blocked today is nothing to be run.
const changesOf = (rows) => rows.filter((row) => row.change && !row.blockers);

const compare = (one, other) => (String(one) < String(other) ? -1 : Number(String(one) > String(other)));

// The files of some changes, by name: one for each step, tool, account and region, its way back, and their order.
function filesOf(rows) {
  const { tools, steps, heads, order, order_head } = SETTINGS.changes, groups = new Map();
  for (const row of rows.filter((one) => steps.includes(one.step))) {
    const key = [steps.indexOf(row.step) + 1, row.step, row.tool, row.provider, row.account, row.region].join('\n');
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(row);
  }
  const saves = (group) => group.reduce((sum, row) => sum + Math.max(row.saved ?? 0, 0), 0);
  const rank = ([{ step, tool, provider, account, region }]) => [steps.indexOf(step), Object.keys(tools).indexOf(tool), provider, account, region];
  const sorted = [...groups.values()].sort((a, b) => {
    const [ours, theirs] = [rank(a), rank(b)];
    return ours[0] - theirs[0] || saves(b) - saves(a) || ours[1] - theirs[1] || compare(ours.slice(2), theirs.slice(2));
  });
  const files = new Map([[order, '']]), lines = [order_head];
  for (const group of sorted) {
    const { step, tool, provider, account, region } = group[0];
    const harmless = (text) => text.replace(/[^A-Za-z0-9._:-]/g, '_'), { slug, ending } = tools[tool];
    const stem = `${steps.indexOf(step) + 1}-${step}-${slug}-${`${account}-${region}`.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 150)}`;
    const names = [`${stem}.${ending}`, `${stem}.back.${ending}`], [forth, back, how] = heads[`${provider}/${step}/${tool}`];
    const volumes = `${whole(group.length)} ${group.length === 1 ? 'volume' : 'volumes'}`;
    const values = { account: harmless(account), region: harmless(region), name: names[0], back: names[1], volumes,
      saves: saves(group) > 0 ? `, saves ${usd(saves(group))} a month` : '' };
    const filled = (text) => text.replace(/\{(account|region|name|back|volumes|saves)\}/g, (_, word) => values[word]);
    group.sort((a, b) => (b.saved ?? 0) - (a.saved ?? 0) || compare(a.id, b.id));
    const body = (key) => group.map((row) => `\n# ${row.note}\n${row[key]}\n`).join('');
    files.set(names[0], filled(forth) + body('change'));
    files.set(names[1], filled(back) + body('way_back'));
    lines.push(`${names[0]}\n${filled(how)}`);
  }
  return files.set(order, lines.join(''));
}

// A tar archive (POSIX ustar) of texts by name: what every system opens without another library.
function archiveOf(files) {
  const encoder = new TextEncoder(), parts = [];
  for (const [name, text] of files) {
    const body = encoder.encode(text), head = new Uint8Array(512);
    const put = (at, value) => head.set(encoder.encode(value), at);
    const octal = (number, digits) => number.toString(8).padStart(digits, '0');
    put(0, name.slice(-99));
    put(100, '0000600\0' + '0000000\0'.repeat(2) + `${octal(body.length, 11)}\0${octal(Math.floor(Date.now() / 1000), 11)}\0        0`);
    put(257, 'ustar\x0000');
    put(148, `${octal(head.reduce((sum, byte) => sum + byte, 0), 6)}\0 `);
    parts.push(head, body, new Uint8Array((512 - (body.length % 512)) % 512));
  }
  return new Blob([...parts, new Uint8Array(1024)], { type: 'application/x-tar' });
}

function save(name, content) {
  const address = URL.createObjectURL(content);
  const link = element('a', { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  tell(`Saved ${name}.`);
}

function saveButton(words, name, content) {
  const button = element('button', { type: 'button', class: 'quiet' }, words);
  button.addEventListener('click', () => save(name, content()));
  return button;
}

// Buttons that take the changes of some rows: to the clipboard, and as files.
function takeButtons(holder, rows) {
  const changes = changesOf(rows);
  holder.hidden = false;
  holder.replaceChildren();
  if (!changes.length) return;
  const copy = element('button', { type: 'button', class: 'quiet copy' }, `Copy ${whole(changes.length)} ${changes.length === 1 ? 'change' : 'changes'}`);
  copy.addEventListener('click', () => copyFrom(copy, changes.map((row) => row.change).join('\n'), `${whole(changes.length)} changes`));
  holder.append(copy, ' ', saveButton('Save as files', 'changes.tar', () => archiveOf(filesOf(changes))));
}

// A spreadsheet is to take no cell for a formula; the rule is that of recommendations.csv.
function inert(text) {
  const harmless = text.replace(new RegExp(SETTINGS.formulas.runs, 'g'), "$<before>'");
  return harmless && SETTINGS.formulas.begins.includes(harmless[0]) ? `'${harmless}` : harmless;
}

const COLUMNS_OF_FILE = { account: 'account', region: 'region', zone: 'zone', id: 'volume_id', name: 'name', owner: 'owner',
  template: 'template', step: 'step', from: 'from', to: 'to', now: 'monthly_usd_now', saved: 'monthly_usd_saved',
  drop_in: 'monthly_usd_saved_drop_in', grade: 'evidence_grade', blockers: 'blockers', tags: 'tags', change: 'change' };

function csvOf(rows) {
  const cell = (value) => {
    if (!known(value)) return '';
    const text = typeof value === 'number' ? String(value) : inert(Array.isArray(value) ? value.join('; ') : value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [Object.values(COLUMNS_OF_FILE), ...rows.map((row) => Object.keys(COLUMNS_OF_FILE).map((key) => row[key]))];
  return `\ufeff${lines.map((line) => line.map(cell).join(',')).join('\r\n')}\r\n`;
}

function drawActions() {
  const rows = chosenRows(), holder = find('#acts');
  const some = shown.rows.filter((row) => picked.has(row.key)).length;
  takeButtons(holder, rows);
  holder.prepend(element('span', { id: 'picked' }, some
    ? `${some === 1 ? 'This one volume' : `These ${whole(some)} volumes`}, selected: ${moneyOfRows(rows)}. ` : 'All that are listed: '));
  holder.hidden = !rows.length;
  if (rows.length) holder.append(' ', saveButton('CSV', 'volumes.csv', () => new Blob([csvOf(chosenRows())], { type: 'text/csv' })));
  const all = find('#pick-all');
  all.checked = some > 0 && some === shown.rows.length;
  all.indeterminate = some > 0 && !all.checked;
}

function pickBox(row, name) {
  const box = element('input', { type: 'checkbox', 'aria-label': `Select ${name}` });
  box.checked = picked.has(row.key);
  box.addEventListener('change', () => {
    picked[box.checked ? 'add' : 'delete'](row.key);
    drawActions();
  });
  return box;
}

function pickAll(on) {
  for (const row of shown.rows) picked[on ? 'add' : 'delete'](row.key);
  for (const box of document.querySelectorAll('#table tbody .pick input')) box.checked = on;
  drawActions();
}
