// Copying works from a file as well, where some browsers have no clipboard for pages.

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element('textarea', { class: 'unseen', readonly: true, 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}

function tell(sentence) {
  const told = find('#told');
  told.textContent = sentence;
  clearTimeout(tell.later);
  tell.later = setTimeout(() => { told.textContent = ''; }, 4000);
}

async function copyFrom(button, text, what) {
  const words = button.dataset.words || (button.dataset.words = button.textContent);
  const copied = await copyText(text);
  button.focus();
  button.textContent = copied ? 'Copied' : words;
  tell(copied ? `Copied ${what}.` : 'The browser does not let this page copy: select the text and copy it yourself.');
  setTimeout(() => { button.textContent = words; }, 2000);
}

function copyButton(text, what, words = 'Copy') {
  const button = element('button', { type: 'button', class: 'quiet copy', 'aria-label': `${words} ${what}` }, words);
  button.addEventListener('click', () => copyFrom(button, text, what));
  return button;
}
