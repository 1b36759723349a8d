// Light or dark as the system says, or as the reader does.

const dark = () => (document.documentElement.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches
  ? 'dark' : 'light')) === 'dark';

function beginTheme(changed) {
  const button = find('#theme');
  const label = () => { button.textContent = dark() ? 'Light' : 'Dark'; };
  button.hidden = false;
  label();
  button.addEventListener('click', () => {
    document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
    try {
      localStorage.setItem('plimsoll-theme', document.documentElement.dataset.theme);
    } catch { /* a page without storage follows the system next time */ }
    label();
    changed();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { label(); changed(); });
}
