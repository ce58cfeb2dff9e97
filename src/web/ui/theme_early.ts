/** Applies the chosen theme before the first paint; the only blocking script. */
const chosen = localStorage.getItem('theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
