/** Every view by its address, and when one counts as drawn. */
import type { Page } from 'playwright-core'

/** Address and heading of each view that needs nothing more to be known. */
export const VIEWS: readonly (readonly [path: string, heading: string])[] = [
  ['/', 'Today'],
  ['/revenue', 'Revenue'],
  ['/subscriptions', 'Subscriptions'],
  ['/retention', 'Trials & retention'],
  ['/customers', 'Customers'],
  ['/events', 'Events'],
  ['/coverage', 'Events'],
  ['/gaps', 'Events'],
  ['/metrics', 'All metrics'],
  ['/metrics/mrr', 'MRR'],
  ['/settings', 'Settings'],
  ['/settings/api', 'API'],
  ['/settings/apple', 'Apple'],
  ['/settings/import', 'Import'],
  ['/settings/jobs', 'Jobs'],
  ['/settings/guests', 'Guests'],
  ['/settings/tokens', 'Tokens'],
  ['/settings/security', 'Security'],
  ['/settings/configuration', 'Configuration'],
  ['/settings/about', 'About'],
]

/** What is further down is asked for when it comes near, or is printed. */
const WHOLE = `new Promise((resolve) => {
  const look = () => {
    window.dispatchEvent(new Event('beforeprint'))
    if (document.querySelector('.ghost, .is-earlier') === null) resolve()
    else requestAnimationFrame(look)
  }
  look()
})`

/** Waits until nothing is on its way any more, all of the view being drawn. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor()
  await page.evaluate(WHOLE)
}

/** Goes there and waits until it is drawn. */
export async function show(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await settled(page)
}

/** Whether something makes the whole page scroll sideways. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth + 1')
