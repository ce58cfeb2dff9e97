/** The demo as a process, with the owner signed in. */
import type { Browser } from 'playwright-core'
import { folderOf, start } from '../processes.ts'
import { cookiesFrom } from './chromium.ts'

export type Demo = { base: string; cookies: Awaited<ReturnType<typeof cookiesFrom>>; password: string }

/** Starts it, opens the link that it prints, and waits for the first import: past figures change until then. */
export async function openDemo(browser: Browser): Promise<Demo> {
  const { child, ...demo } = await startDemo(browser)
  await child.until((text) => /Imported a year/.exec(text))
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
