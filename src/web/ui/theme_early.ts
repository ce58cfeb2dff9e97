/** The chosen theme, before anything is drawn: the one script that the page waits for. */
const chosen = localStorage.getItem('theme')
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
