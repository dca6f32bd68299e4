// Runs before the first paint, so that nobody sees the other theme flash by. `parts/theme` writes what it reads.
try {
  const theme = localStorage.getItem("airboss.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Without storage the system's theme holds.
}
