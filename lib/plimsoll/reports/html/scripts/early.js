try {
  const theme = localStorage.getItem('plimsoll-theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch { /* no storage: as the system says */ }
