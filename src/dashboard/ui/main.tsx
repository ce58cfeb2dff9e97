/** The dashboard's page: what the browser runs first. */
import { render } from 'preact'

const root = document.getElementById('app')
if (root) render(<main class="page" />, root)
