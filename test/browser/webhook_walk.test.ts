/** The way of docs/webhooks.md, from a new Windfall to a verified test event in the server that the page prints. */
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { printedCode, webhooksPage } from '../docs/receivers.ts'
import { folderOf, start } from '../processes.ts'
import { hasChromium, launch, visit } from './chromium.ts'

const STANDARD_WEBHOOKS = fileURLToPath(new URL('../../node_modules/standardwebhooks', import.meta.url))
/** What a person does at most from the printed link to the result, in the dashboard. */
const MAX_CLICKS = 9
const MAX_FIELDS = 2

/** The lines of config.toml that the page prints, for another port. @throws Error if there are none */
function printedConfig(port: number): string {
  const [, lines] = /```toml\n(\[outbound\][\s\S]*?)```/.exec(webhooksPage()) ?? []
  if (lines === undefined) throw new Error('docs/webhooks.md does not permit an address')
  return lines.replace(':3000', `:${port}`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts the printed server on another port, with its package installed beside it. */
function startReceiver(port: number, secret: string) {
  const cwd = folderOf({
    'server.mjs': printedCode('server.mjs').replace('.listen(3000)', `.listen(${port})`),
  })
  mkdirSync(join(cwd, 'node_modules'))
  symlinkSync(STANDARD_WEBHOOKS, join(cwd, 'node_modules/standardwebhooks'))
  return start([], { cwd, entry: join(cwd, 'server.mjs'), env: { WINDFALL_WEBHOOK_SECRET: secret } })
}

/** Whether something listens on the port. It sends no request, which the receiver would print. */
const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    }).on('error', () => resolve(false))
  })

describe.skipIf(!hasChromium())('the first webhook', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test(`takes at most ${MAX_CLICKS} clicks and ${MAX_FIELDS} fields`, async () => {
    const port = await freePort()
    const cwd = folderOf({ 'config.toml': printedConfig(port) })
    const windfall = start(['serve'], { cwd, env: { WINDFALL_SERVER_PORT: '0' } })
    const link = await windfall.until((text) => /http:\/\/127\.0\.0\.1:\d+\/setup#\S+/.exec(text)?.[0])
    const { page, context, complaints } = await visit(browser, new URL(link).origin, 'desktop')
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const done = { clicks: 0, fields: 0 }
    const click = async (target: Locator): Promise<void> => {
      done.clicks += 1
      await target.click()
    }
    const fill = async (label: string, text: string): Promise<void> => {
      done.fields += 1
      await page.getByLabel(label).fill(text)
    }
    const button = (name: string): Locator => page.getByRole('button', { name, exact: true }).last()

    await page.goto(link)
    await fill('Password', 'a sentence that nobody guesses')
    await click(button('Create account'))
    await click(page.getByRole('link', { name: 'Settings' }).first())
    await click(page.getByRole('link', { name: 'Webhooks' }))
    await click(button('Add endpoint'))
    await fill('URL', `http://127.0.0.1:${port}/`)
    await click(page.getByRole('dialog').getByRole('button', { name: 'Add endpoint' }))
    await click(button('Copy the signing secret'))
    await page.getByRole('status').getByText('Copied').waitFor()
    const secret = await page.evaluate<string>('navigator.clipboard.readText()')
    const receiver = startReceiver(port, secret)
    await expect.poll(() => isListening(port), { timeout: 10_000 }).toBe(true)
    await click(button('Done'))
    await click(button('Send test event'))
    await click(button('Send'))

    const result = page.getByRole('region', { name: 'Result' })
    await result.getByText('The receiver answered 204.').waitFor()
    const printed = await receiver.until((text) => /verified: [\s\S]*evt_test_\w+/.exec(text)?.[0])
    const id = /evt_test_\w+/.exec(printed)?.[0] ?? ''
    expect(printed).toContain("type: 'subscription.renewed'")
    expect(await result.getByRole('region', { name: 'Body' }).textContent()).toContain(id)
    expect(receiver.stdout()).not.toContain('refused:')
    expect(done.clicks).toBeLessThanOrEqual(MAX_CLICKS)
    expect(done.fields).toBeLessThanOrEqual(MAX_FIELDS)
    expect(complaints.filter((words) => !/status of 40[04]/.test(words))).toEqual([])
    await context.close()
  })
})
