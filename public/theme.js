// Applies the chosen theme before the first paint; without a choice the browser's own holds.
try {
  const theme = localStorage.getItem('redrive-theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch {
  // Storage is forbidden: the browser's own theme holds.
}
