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

// Columns of words come first, then those of figures, then further ones of words.
function table(caption, words, figures, rows, further = []) {
  const heads = [...words, ...figures, ...further];
  const kind = (index) => (index >= words.length && index < heads.length - further.length ? 'number' : null);
  const cell = (value, index) =>
    element(index ? 'td' : 'th', { scope: index ? null : 'row', class: kind(index), 'data-label': heads[index] }, value);
  return element('div', { class: 'scroll' }, element('table', { class: 'small' },
    element('caption', {}, caption),
    element('thead', {}, element('tr', {}, heads.map((head, index) =>
      element('th', { scope: 'col', class: kind(index) }, head)))),
    element('tbody', {}, rows.map((row) => element('tr', {}, row.map(cell))))));
}

// What is wider than its room can be scrolled by the keyboard too; what is not, the tab key passes over.
function reachable(inside) {
  for (const one of inside.querySelectorAll('.scroll')) {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    else one.removeAttribute('tabindex');
  }
}
