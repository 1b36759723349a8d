// What is taken away: changes to the clipboard or as one file for each tool, and rows as a table.

const picked = new Set();

// What an action is about: the selected rows of those that are listed, or all of them.
function chosenRows() {
  const found = shown.rows.filter((row) => picked.has(row.key));
  return found.length ? found : shown.rows;
}

// What is blocked today is nothing to be run.
const changesOf = (rows) => rows.filter((row) => row.change && !row.blockers);

function fileOf(rows) {
  const line = (row) => `# ${row.account} ${row.region} ${row.id} ${row.name || ''}: ${row.from} to ${row.to}, ${changeOfBill(row.saved)}`;
  return SETTINGS.files_begin + rows.map((row) => `\n${line(row).replace(/\s+/g, ' ')}\n${row.change}\n`).join('');
}

function save(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element('a', { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  tell(`Saved ${name}.`);
}

function saveButton(words, name, content, type = 'text/plain') {
  const button = element('button', { type: 'button', class: 'quiet' }, words);
  button.addEventListener('click', () => save(name, content(), type));
  return button;
}

// Buttons that take the changes of some rows: to the clipboard, and as a file for each tool that owns some of them.
function takeButtons(holder, rows) {
  const changes = changesOf(rows);
  holder.hidden = false;
  holder.replaceChildren();
  if (!changes.length) return;
  const copy = element('button', { type: 'button', class: 'quiet copy' }, `Copy ${whole(changes.length)} ${changes.length === 1 ? 'change' : 'changes'}`);
  copy.addEventListener('click', () => copyFrom(copy, changes.map((row) => row.change).join('\n'), `${whole(changes.length)} changes`));
  holder.append(copy, ' Save: ');
  for (const [kind, tool] of Object.entries(SETTINGS.tools)) {
    const own = changes.filter((row) => row.tool === kind);
    if (own.length) holder.append(saveButton(`${tool.name} (${whole(own.length)})`, tool.file, () => fileOf(own)));
  }
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
  holder.prepend(element('span', { id: 'picked' }, some ? `${whole(some)} selected: ` : 'All that are listed: '));
  if (rows.length) holder.append(saveButton('CSV', 'volumes.csv', () => csvOf(chosenRows()), 'text/csv'));
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
