// Before the first paint, so that a chosen theme does not flash. The rest is in src/theme/theme.ts.
try {
  var chosen = localStorage.getItem("rookery.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch (error) {
  // storage is refused: the system's theme
}
