/**
 * Takes screenshots of every view, desktop and phone, light and dark: `npm run screenshots -- --to FOLDER`. With
 * `--readme` it takes only the four of the README, into docs/pictures.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { chromiumPath, cookiesFrom, type Light, launch, type Size, visit } from './chromium.ts'
import { startSettledDemo } from './demo/start_demo.ts'
import { settled, show, VIEWS } from './views.ts'

const IN_README: readonly (readonly [path: string, size: Size, light: Light, name: string])[] = [
  ['/', 'desktop', 'light', 'today'],
  ['/subscriptions?range=12m', 'desktop', 'dark', 'subscriptions'],
  ['/retention?range=12m', 'desktop', 'light', 'retention'],
  ['/', 'phone', 'dark', 'phone'],
]
const PICTURES = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))

const { values } = parseArgs({
  options: { to: { type: 'string' }, readme: { type: 'boolean', default: false } },
})

const nameOf = (path: string): string => (path === '/' ? 'today' : path.slice(1).replaceAll('/', '-'))

/** Addresses of a customer, an event and an endpoint that there are. */
async function examples(page: Page): Promise<string[]> {
  const getJson = async (path: string) => (await page.context().request.get(path)).json()
  const { customers } = await getJson('/api/v1/customers?limit=1')
  const { events } = await getJson('/api/v1/events?limit=1')
  const { endpoints } = (await getJson('/api/v1/endpoints')) as { endpoints: { id: string }[] }
  const webhooks = endpoints.slice(0, 1).map(({ id }) => `/settings/webhooks/${id}`)
  return [`/customers/${customers[0].id}`, `/events/${events[0].id}`, ...webhooks]
}

async function everyView(browser: Browser, base: string, cookies: Cookies, folder: string): Promise<void> {
  for (const size of ['desktop', 'phone'] as const) {
    for (const light of ['light', 'dark'] as const) {
      const { page, context } = await visit(browser, base, size, light)
      await context.addCookies(cookies)
      await show(page, '/')
      for (const path of [...VIEWS.map(([address]) => address), ...(await examples(page))]) {
        await show(page, path)
        await page.screenshot({ path: join(folder, `${nameOf(path)}-${size}-${light}.png`), fullPage: true })
      }
      await context.close()
    }
  }
}

async function forReadme(browser: Browser, base: string, cookies: Cookies): Promise<void> {
  mkdirSync(PICTURES, { recursive: true })
  for (const [path, size, light, name] of IN_README) {
    const { page, context } = await visit(browser, base, size, light)
    await context.addCookies(cookies)
    await show(page, path)
    await settled(page)
    await page.screenshot({ path: join(PICTURES, `${name}.png`) })
    await context.close()
  }
}

type Cookies = Awaited<ReturnType<typeof cookiesFrom>>

async function take(): Promise<void> {
  if (chromiumPath === null) throw new Error('no Chromium on this machine; WINDFALL_CHROMIUM may name one')
  const folder = values.to ?? 'dist/screenshots'
  const demo = await startSettledDemo()
  const browser = await launch()
  try {
    const cookies = await cookiesFrom(browser, demo.link)
    if (values.readme) return await forReadme(browser, demo.base, cookies)
    mkdirSync(folder, { recursive: true })
    await everyView(browser, demo.base, cookies, folder)
    process.stdout.write(`pictures are in ${folder}\n`)
  } finally {
    await browser.close()
    demo.stop()
  }
}

await take()
