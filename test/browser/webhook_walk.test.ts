/** The way from nothing to a verified test event, as docs/webhooks.md describes it, with its clicks counted. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { printedCode } from '../docs/receivers.ts'
import { folderOf, start } from '../processes.ts'
import { hasChromium, launch, visit } from './chromium.ts'

const PASSWORD = 'a sentence that nobody guesses'

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false)
  socket.destroy()
  return isOpen
}

/** Runs the server of the page without a package, on `port`. Returns what it printed so far. */
async function runReceiver(port: number, secret: string): Promise<() => string> {
  const file = join(folderOf(), 'plain_server.mjs')
  writeFileSync(
    file,
    printedCode('plain_server.mjs').replace('.listen(3000)', `.listen(${port}, '127.0.0.1')`),
  )
  const child = spawn(process.execPath, [file], { env: { ...process.env, WINDFALL_WEBHOOK_SECRET: secret } })
  onTestFinished(() => void child.kill())
  let printed = ''
  child.stdout.on('data', (bytes: Buffer) => {
    printed += bytes.toString()
  })
  await expect.poll(() => isListening(port)).toBe(true)
  return () => printed
}

/** Counts clicks and typed fields. */
function counting(page: Page) {
  const counts = { clicks: 0, fields: 0 }
  const click = async (name: string, role: 'button' | 'link' = 'button'): Promise<void> => {
    counts.clicks += 1
    const dialog = page.getByRole('dialog')
    const place = (await dialog.count()) > 0 ? dialog : page
    await place.getByRole(role, { name, exact: true }).first().click()
  }
  const fill = async (label: string, text: string): Promise<void> => {
    counts.fields += 1
    await page.getByLabel(label).fill(text)
  }
  return { counts, click, fill }
}

describe.skipIf(!hasChromium())('the first webhook', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test('arrives verified after a few clicks', { timeout: 60_000 }, async () => {
    const port = await freePort()
    const env = { WINDFALL_SERVER_PORT: '0', WINDFALL_OUTBOUND_ALLOW: '127.0.0.1/32' }
    const windfall = start(['serve'], { cwd: folderOf(), env })
    const link = await windfall.until((text) => /http:\/\/127\.0\.0\.1:\d+\/setup#\S+/.exec(text)?.[0])
    const { page, context } = await visit(browser, new URL(link).origin, 'desktop')
    onTestFinished(() => context.close())
    const { counts, click, fill } = counting(page)
    await page.goto(link)
    await fill('Password', PASSWORD)
    await click('Create account')
    await page.getByRole('heading', { name: 'Today', level: 1 }).waitFor()

    await click('Settings', 'link')
    await click('Webhooks', 'link')
    await click('Add endpoint')
    await fill('URL', `http://127.0.0.1:${port}/`)
    await click('Add endpoint')
    await page.getByRole('heading', { name: 'Signing secret' }).waitFor()
    const secret = (await page.locator('dialog .copy code').textContent()) ?? ''
    const printed = await runReceiver(port, secret)
    await click('Done')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await click('Send test event')
    await click('Send')
    const result = page.getByRole('region', { name: 'Result' })
    await result.getByText('The receiver answered 204.').waitFor()
    expect(printed()).toMatch(/verified: \{"type":/)
    expect(counts).toEqual({ clicks: 8, fields: 2 })
  })
})
