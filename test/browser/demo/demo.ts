/** The demo as a process, with the owner signed in. */
import type { Browser } from 'playwright-core'
import { expect, inject, vi } from 'vitest'
import { folderOf, start } from '../../processes.ts'
import { cookiesFrom } from '../chromium.ts'
import type { SharedDemo } from './shared_demo.ts'

export type Demo = { base: string; cookies: Awaited<ReturnType<typeof cookiesFrom>> }

/** A hook that opens the demo takes this long at most: the import needs minutes on a busy machine. */
export const DEMO_MS = 480_000

/** The demo that the browser tests share, after its first import. It keeps what a test changes. */
export async function openDemo(browser: Browser): Promise<Demo> {
  const { base, password } = (await (await fetch(inject('demo'))).json()) as SharedDemo
  const context = await browser.newContext({ baseURL: base })
  const signedIn = await context.request.post('/api/v1/login', { data: { password } })
  expect(signedIn.status()).toBe(200)
  const cookies = await context.cookies()
  await context.close()
  return { base, cookies }
}

/** Starts a small demo of this executable and opens the link that it prints. */
export async function startDemoOf(browser: Browser, program: string): Promise<Demo> {
  const child = start(['demo', '--port', '0', '--subscribers', '200'], { cwd: folderOf(), program })
  const [address = '', base = ''] = await child.until((text) =>
    /(http:\/\/127\.0\.0\.1:\d+)\/login#\S+/.exec(text),
  )
  return { base, cookies: await cookiesFrom(browser, address) }
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
