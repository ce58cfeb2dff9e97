/** The demo as a process, with the owner signed in. */
import type { Browser } from 'playwright-core'
import { folderOf, start } from '../processes.ts'
import { cookiesFrom } from './chromium.ts'

export type Demo = { base: string; cookies: Awaited<ReturnType<typeof cookiesFrom>>; password: string }

/** Starts it, opens the link that it prints, and waits for the first import. `program` is the executable to run. */
export async function openDemo(browser: Browser, program?: string): Promise<Demo> {
  const child = start(['demo', '--port', '0'], { cwd: folderOf(), program })
  const link = await child.until((text) => /(http:\/\/127\.0\.0\.1:\d+)\/login#\S+/.exec(text))
  const password = await child.until((text) => /with the password (\S+)/.exec(text)?.[1])
  const [address = '', base = ''] = link
  const cookies = await cookiesFrom(browser, address)
  // Past figures change while the history is read.
  await child.until((text) => /Imported a year/.exec(text))
  return { base, cookies, password }
}
