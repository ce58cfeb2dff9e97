/** Entry point of the dashboard's page. */
import { render } from 'preact'
import './loading/common.ts'
import { readForView } from './loading/early_reads.ts'
import { Page } from './page.tsx'
import { preloadView } from './views.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/frame.css'
import './styles/parts.css'
import './styles/charts.css'
import './styles/sign_in.css'
import './styles/today.css'
import './styles/settings.css'
import './styles/alerts.css'
import './styles/webhooks.css'
import './styles/widgets.css'
import './styles/metrics.css'
import './styles/subscriptions.css'
import './styles/customers.css'
import './styles/evidence.css'
import './styles/events.css'
import './styles/cohorts.css'
import './styles/digests.css'
import './styles/palette.css'

/** The first rendering waits this long at most for what it shows; then it begins with placeholders. */
const MAX_WAIT_MS = 400

const view = Promise.all([
  readForView(location),
  preloadView(location.pathname),
  // Text in another font would be laid out again, and charts drawn again. If it cannot be loaded, the page uses another.
  document.fonts.load('1em Inter').catch(() => []),
])
const limit = new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS))
// With everything there, the view is rendered once instead of once for each answer.
void Promise.race([view, limit]).finally(() => {
  const root = document.getElementById('app')
  if (root) render(<Page />, root)
})
if ('serviceWorker' in navigator && window.isSecureContext)
  void navigator.serviceWorker.register('/service_worker.js')
