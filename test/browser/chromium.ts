/** Drives Chromium over real pages, collects its complaints and allows only the server's host. */
import { existsSync } from 'node:fs'
import axe, { type AxeResults } from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'

const WITH_WINDOWS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/** The shell has no window around the page, so it needs half of the time. It shows no notifications. */
const PLACES = ['/usr/bin/chromium-headless-shell', ...WITH_WINDOWS]

const first = (places: readonly string[]): string | null => places.find((path) => existsSync(path)) ?? null

/** The path of Chromium: WINDFALL_CHROMIUM or a usual location; null if there is none. */
export const chromiumPath: string | null = process.env.WINDFALL_CHROMIUM ?? first(PLACES)
/** As `chromiumPath`, with notifications. */
const notifyingPath: string | null = process.env.WINDFALL_CHROMIUM ?? first(WITH_WINDOWS)

/** Set where browser tests must not be skipped. */
const isRequired = process.env.WINDFALL_BROWSER === 'required'

/**
 * Whether browser tests can run; warns if they cannot.
 *
 * @throws Error if they must run and cannot
 */
export function hasChromium(path = chromiumPath): boolean {
  if (path !== null) return true
  const words = 'No Chromium on this machine: `apt-get install chromium`, or name one in WINDFALL_CHROMIUM.'
  if (isRequired) throw new Error(words)
  process.stderr.write(`\n*** ${words}\n*** THE TESTS OF THE DASHBOARD IN A BROWSER ARE SKIPPED.\n\n`)
  return false
}

const HIDDEN_SCROLLBARS = '--hide-scrollbars'

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-color-profile=srgb',
  HIDDEN_SCROLLBARS,
]

export const launch = (path = chromiumPath): Promise<Browser> =>
  chromium.launch({ executablePath: path ?? '', args: QUIET, headless: true })

/**
 * Opens a profile in `folder`, as a person has one: only with it does Chromium keep compiled code. `options` are those of
 * a context.
 */
export const launchProfile = (folder: string, options: BrowserContextOptions): Promise<BrowserContext> =>
  chromium.launchPersistentContext(folder, {
    executablePath: notifyingPath ?? chromiumPath ?? '',
    args: QUIET,
    headless: true,
    ...options,
  })

export const hasNotifications = (): boolean => hasChromium(notifyingPath)
export const launchWithNotifications = (): Promise<Browser> => launch(notifyingPath)

/** With scrollbars that take room beside the page, as on Windows. */
export const launchWithScrollbars = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath ?? '',
    args: QUIET.filter((arg) => arg !== HIDDEN_SCROLLBARS),
    ignoreDefaultArgs: [HIDDEN_SCROLLBARS],
    headless: true,
  })

export const SIZES = {
  desktop: { viewport: { width: 1360, height: 900 }, deviceScaleFactor: 1 },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
} as const
export type Size = keyof typeof SIZES
export type Light = 'light' | 'dark'

const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`

/** A browser page. `complaints`: errors of the console and of scripts, violations of the policy, foreign requests. */
export type Visitor = { context: BrowserContext; page: Page; complaints: string[] }

/** Without motion, because colors in the middle of a transition cannot be judged. */
const LOOKING = { locale: 'en-US', reducedMotion: 'reduce' } as const

/** @param base the URL of the server, the only host that is allowed */
export async function visit(
  browser: Browser,
  base: string,
  size: Size,
  light: Light = 'light',
): Promise<Visitor> {
  const context = await browser.newContext({ ...SIZES[size], colorScheme: light, ...LOOKING, baseURL: base })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`script: ${error.message}`))
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== new URL(base).origin)
      complaints.push(`foreign: ${request.url()}`)
  })
  await page.addInitScript({ content: REPORT_VIOLATIONS })
  return { context, page, complaints }
}

/** Waits for transitions, during which a color is between two; animations that repeat for ever are not waited for. */
const TRANSITIONS_END = `Promise.allSettled(document.getAnimations()
  .filter((one) => Number.isFinite(one.effect.getComputedTiming().endTime))
  .map((one) => one.finished)).then(() => undefined)`

/** A long form scrolls below its button, which at the end of the form covers no part of it. */
const DIALOG_ENDS = `document.querySelector('dialog[open]')?.scrollTo(0, 10_000)`

/** With the size of targets (WCAG 2.5.8), which axe leaves out by default. */
const AXE_OPTIONS = { resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }

/** Accessibility violations, each with the first element that has it. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(TRANSITIONS_END)
  await page.evaluate(DIALOG_ENDS)
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(AXE_OPTIONS)})`)
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes[0]?.html.slice(0, 160) ?? ''}`)
}

/** The cookies of a browser after it has opened a sign-in link. */
export async function cookiesFrom(browser: Browser, link: string) {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(link)
  await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
  const cookies = await context.cookies()
  await context.close()
  return cookies
}
