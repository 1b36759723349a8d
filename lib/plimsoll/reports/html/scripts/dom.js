// Elements are made from text and attributes alone; no string is ever read as HTML.

const find = (selector, inside = document) => inside.querySelector(selector);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, '');
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

// Names come from tags: isolated, so that a right-to-left mark in one turns nothing else around.
const named = (text) => element('bdi', {}, text);

function table(caption, heads, rows) {
  const cell = (value, index) =>
    element(index ? 'td' : 'th', { scope: index ? null : 'row', class: heads[index].number ? 'number' : null,
      'data-label': heads[index].label }, value);
  return element('div', { class: 'scroll' }, element('table', { class: 'small' },
    element('caption', {}, caption),
    element('thead', {}, element('tr', {}, heads.map((head) =>
      element('th', { scope: 'col', class: head.number ? 'number' : null }, head.label)))),
    element('tbody', {}, rows.map((row) => element('tr', {}, row.map(cell))))));
}
