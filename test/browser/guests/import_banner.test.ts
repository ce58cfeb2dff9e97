/** The banner of the first import, for the owner and for guests. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest'
import { openApple } from '../../ledger/reports/apple.ts'
import { hasChromium, launch } from '../chromium.ts'
import { assertSound, visitAsGuest, visitAsOwner } from '../owned.ts'
import { show } from '../views.ts'

/** An App Store Connect that does not answer. */
async function openSilence(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.skipIf(!hasChromium())('the first import', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  test.each([
    ['the owner', visitAsOwner],
    ['a guest', visitAsGuest],
  ])('%s sees on every view that figures change until it is done', async (_, visitAs) => {
    const { openWindfall } = await openApple()
    const app = await openWindfall({ connect: await openSilence() })
    app.imports.run({ days: 3 }).catch(() => undefined)
    const { page } = await visitAs(browser, app, 'desktop')
    for (const path of ['/', '/subscriptions']) {
      await show(page, path)
      const banner = page.getByRole('region', { name: 'Import' })
      await banner.getByText('importing a year of history: 0%. Figures change until it is done.').waitFor()
    }
    await assertSound(page)
  })
})
