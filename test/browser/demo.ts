/** The demo as a process, with the owner signed in. */
import type { Browser } from 'playwright-core'
import { expect, vi } from 'vitest'
import { folderOf, start } from '../processes.ts'
import { cookiesFrom } from './chromium.ts'

export type Demo = { base: string; cookies: Awaited<ReturnType<typeof cookiesFrom>>; password: string }

/** Starts it, opens the link that it prints, and waits for the first import: past figures change until then. */
export async function openDemo(browser: Browser): Promise<Demo> {
  const { child, ...demo } = await startDemo(browser)
  await child.until((text) => /Imported a year of .* in \d/.exec(text))
  return demo
}

/** Starts it and opens the link that it prints. `program` is the executable to run. */
export async function startDemo(browser: Browser, program?: string) {
  const child = start(['demo', '--port', '0'], { cwd: folderOf(), program })
  const link = await child.until((text) => /(http:\/\/127\.0\.0\.1:\d+)\/login#\S+/.exec(text))
  const password = await child.until((text) => /with the password (\S+)/.exec(text)?.[1])
  const [address = '', base = ''] = link
  const cookies = await cookiesFrom(browser, address)
  return { child, base, cookies, password }
}

type History = { history: { environment: string; backfill: { stage: string } | null }[] }
const BACKFILL_MS = 90_000

/** Waits until the backfill has found the missing notifications and everything is counted: past figures then stay. */
export async function untilCounted(browser: Browser, { base, cookies }: Demo): Promise<void> {
  const context = await browser.newContext({ baseURL: base })
  await context.addCookies(cookies)
  const read = async (path: string) => (await context.request.get(path)).json()
  const stages = async () => {
    const { history } = (await read('/api/v1/history')) as History
    const own = history.filter(({ environment }) => environment === 'production')
    return new Set(own.map(({ backfill }) => backfill?.stage))
  }
  await vi.waitFor(async () => {
    expect(await stages()).toEqual(new Set(['done']))
    expect(await read('/api/v1/metrics/mrr')).toMatchObject({ behind: null })
  }, BACKFILL_MS)
  await context.close()
}
