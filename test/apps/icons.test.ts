/** Icons of apps from Apple's public lookup. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { APPLE_ID, BUNDLE } from '../apple/samples.ts'
import { handClock, openTestApp } from '../helpers.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==',
  'base64',
)
const DAY_MS = 86_400_000

type Listed = { apps: { bundle_id: string; icon: string | null }[] }
/** What Apple answers, and what was asked. */
type Apple = { status: number; picture: string; type: string; asked: string[]; origin: string }

async function openLookup(): Promise<Apple> {
  const apple: Apple = { status: 200, picture: '/icon.png', type: 'image/png', asked: [], origin: '' }
  const answer: RequestListener = ({ url = '', headers }, response) => {
    apple.asked.push(headers.authorization === undefined ? url : 'a token')
    if (!url.startsWith('/lookup')) return response.setHeader('content-type', apple.type).end(PIXEL)
    const results = [{ artworkUrl100: new URL(apple.picture, apple.origin).href }]
    response.writeHead(apple.status, { 'content-type': 'text/javascript' }).end(JSON.stringify({ results }))
  }
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  apple.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return apple
}

async function openWithLookup(apple: Pick<Apple, 'origin'>, env: Record<string, string> = {}) {
  const nowhere = 'http://127.0.0.1:1'
  const server = { production: nowhere, sandbox: nowhere }
  const clock = handClock()
  const app = await openTestApp({ clock, env, hosts: { connect: nowhere, server, lookup: apple.origin } })
  const headers = await app.signIn()
  const get = (path: string, init: RequestInit = { headers }) => app.request(path, init)
  const iconPath = async (): Promise<string | null> => {
    const { apps } = (await (await get('/api/v1/apps')).json()) as Listed
    return apps.find(({ bundle_id }) => bundle_id === BUNDLE)?.icon ?? null
  }
  return { ...app, clock, get, iconPath }
}

test('the icon of an app comes from Apple’s lookup, asked once a day without a key', async () => {
  const apple = await openLookup()
  const { get, iconPath, clock } = await openWithLookup(apple)
  expect(await iconPath()).toBe(null)
  await vi.waitFor(async () => expect(await iconPath()).toMatch(/^\/api\/v1\/apps\/app_\w+\/icon$/))
  const icon = await get((await iconPath()) ?? '')
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(Buffer.from(await icon.arrayBuffer())).toEqual(PIXEL)
  expect(apple.asked).toEqual([`/lookup?id=${APPLE_ID}`, '/icon.png'])
  clock.turn(DAY_MS)
  expect(await iconPath()).not.toBe(null)
  await vi.waitFor(() => expect(apple.asked).toHaveLength(4))
})

test('with apple.icons = false, Apple is not asked', async () => {
  const apple = await openLookup()
  const { iconPath, windfall } = await openWithLookup(apple, { WINDFALL_APPLE_ICONS: 'false' })
  expect(await iconPath()).toBe(null)
  await windfall.appleClients.close()
  expect(apple.asked).toEqual([])
})

test('a change of apple.icons takes effect without a restart', async () => {
  const apple = await openLookup()
  const { iconPath, windfall, config } = await openWithLookup(apple)
  expect(await iconPath()).toBe(null)
  await vi.waitFor(async () => expect(await iconPath()).not.toBe(null))
  await windfall.declare({ ...config, apple: { ...config.apple, icons: false } })
  expect(await iconPath()).toBe(null)
})

test.each([
  ['Apple refuses', { status: 403 }],
  ['the picture is elsewhere', { picture: 'http://169.254.169.254/icon.png' }],
  ['the picture is a document', { type: 'image/svg+xml' }],
])('there is no icon where %s', async (_, change) => {
  const apple = Object.assign(await openLookup(), change)
  const { get, iconPath, windfall } = await openWithLookup(apple)
  expect(await iconPath()).toBe(null)
  await vi.waitFor(() => expect(apple.asked.length).toBeGreaterThan(0))
  await windfall.appleClients.close()
  expect(await iconPath()).toBe(null)
  const id = windfall.apps.list()[0]?.id
  expect((await get(`/api/v1/apps/${id}/icon`)).status).toBe(404)
})

test('there is no icon while Apple cannot be reached, and none of apps outside of the scope', async () => {
  const { windfall, iconPath, get } = await openWithLookup({ origin: 'http://127.0.0.1:1' })
  expect(await iconPath()).toBe(null)
  const { token } = await windfall.store.commit(() =>
    windfall.tokens.create('none', { organization_id: null, apps: ['other'] }),
  )
  const id = windfall.apps.list()[0]?.id
  const answer = await get(`/api/v1/apps/${id}/icon`, { headers: { authorization: `Bearer ${token}` } })
  expect(answer.status).toBe(404)
})
