/** A process: a browser with the page of Today, open all the time. */
import { launch, visit } from '../../browser/chromium.ts'
import { answer, givenArguments } from './answering.ts'

/** `value`: that of the cookie of the session. */
const { url, value } = givenArguments<{ url: string; value: string }>()
/** What the page says while the server is away. */
const AWAY = /Failed to load resource|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|net::ERR_/

const browser = await launch()
const { context, page, complaints } = await visit(browser, url, 'desktop')
await context.addCookies([{ name: 'windfall', value, url }])
await page.goto('/')
await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()
const devtools = await context.newCDPSession(page)
await devtools.send('Performance.enable')
const list = page.getByRole('list', { name: 'Events, newest first' })

export type PageQuestions = typeof questions
const questions = {
  /** The text of the newest events. */
  newest: async (): Promise<string> => ((await list.count()) === 0 ? '' : list.first().innerText()),
  /** The heap of the page’s scripts after a collection, in MiB. */
  async heap(): Promise<number> {
    await devtools.send('HeapProfiler.collectGarbage')
    const { metrics } = await devtools.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / 2 ** 20
  },
  seen: () => ({ complaints: complaints.filter((words) => !AWAY.test(words)) }),
  end: () => browser.close(),
}
answer(questions)
