/** The views by path, and helpers that wait until one is rendered. */
import type { Page } from 'playwright-core'

/** Path and heading of each view without parameters. */
export const VIEWS: readonly (readonly [path: string, heading: string])[] = [
  ['/', 'Today'],
  ['/revenue', 'Revenue'],
  ['/refunds', 'Refunds'],
  ['/subscriptions', 'Subscriptions'],
  ['/retention', 'Trials & retention'],
  ['/customers', 'Customers'],
  ['/events', 'Events'],
  ['/coverage', 'Coverage'],
  ['/gaps', 'Gaps'],
  ['/digests', 'Digests'],
  ['/digests/preview', 'Daily digest'],
  ['/metrics', 'All metrics'],
  ['/metrics/mrr', 'MRR'],
  ['/settings', 'Settings'],
  ['/settings/api', 'API'],
  ['/settings/webhooks', 'Webhooks'],
  ['/settings/apple', 'Apple'],
  ['/settings/import', 'Import'],
  ['/settings/jobs', 'Jobs'],
  ['/settings/guests', 'Guests'],
  ['/settings/tokens', 'Tokens'],
  ['/settings/security', 'Security'],
  ['/settings/configuration', 'Configuration'],
  ['/settings/system', 'System'],
  ['/settings/about', 'About'],
]

/** Loads the cards below the viewport, which load when they come near or for printing. */
const WHOLE = `new Promise((resolve) => {
  const look = () => {
    window.dispatchEvent(new Event('beforeprint'))
    if (document.querySelector('.ghost, .is-earlier') === null) resolve()
    else requestAnimationFrame(look)
  }
  look()
})`

/** Waits until the whole view is rendered and no request is pending. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor()
  await page.evaluate(WHOLE)
}

/** Opens a path and waits until it is rendered. */
export async function show(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await settled(page)
}

/** Whether the page scrolls horizontally. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth + 1')
