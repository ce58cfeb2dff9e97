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

readForView(location)
preloadView(location.pathname)
const root = document.getElementById('app')
if (root) render(<Page />, root)
if ('serviceWorker' in navigator && window.isSecureContext)
  void navigator.serviceWorker.register('/service_worker.js')
