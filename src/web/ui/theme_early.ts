/** Applies the selected theme before the first paint. This is the only render-blocking script. */
const storedTheme = localStorage.getItem('theme')
if (storedTheme === 'light' || storedTheme === 'dark') document.documentElement.dataset.theme = storedTheme
