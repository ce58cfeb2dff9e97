import { createServer, request as send } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { openTestApp, sharedAuthority } from '../helpers.ts'
import { about, openChecked } from './checking.ts'

type Proxied = { host?: string; headers?: Record<string, string> }

/** A Windfall that listens, and a proxy in front of it whose address is the base URL. */
async function openBehindProxy(env: Record<string, string> = {}) {
  const checked = await openChecked(await openTestApp({ env: { WINDFALL_RATES_FETCH: 'false', ...env } }))
  const { http } = checked.app.windfall
  const server = await listen(http, { port: 0, shutdown_ms: 100 })
  const state: { behave: Proxied | ((path: string) => string) } = { behave: {} }
  const proxy = createServer((incoming, outgoing) => {
    if (typeof state.behave === 'function') {
      outgoing.writeHead(301, { location: state.behave(incoming.url ?? '') }).end()
      return
    }
    const { host = incoming.headers.host, headers = {} } = state.behave
    const all = { ...incoming.headers, host, ...headers }
    const forwarded = send(`${server.url}${incoming.url}`, { headers: all }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.end()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    proxy.closeAllConnections()
    proxy.close()
    await server.close()
  })
  const base_url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  http.configure({ base_url })
  return { ...checked, base_url, server, behave: (next: typeof state.behave) => (state.behave = next) }
}

test('a request to the base URL reaches this server, with what the proxy sends', async () => {
  const { base_url, check, behave } = await openBehindProxy()
  const own = (status: string, text: string) => ({ status, detail: expect.stringContaining(text) })
  const sound = `A request to ${base_url} reaches this server in `
  expect(await check('address:request')).toMatchObject([own('ok', sound)])
  behave({ host: 'localhost' })
  expect(await check('address:request')).toMatchObject([own('warning', 'but with the host localhost.')])
  behave({ headers: { 'x-forwarded-proto': 'https' } })
  expect(await check('address:request')).toMatchObject([own('warning', 'reports the scheme https.')])
  behave((path) => `https://elsewhere.example${path}`)
  expect(await check('address:request')).toMatchObject([
    own('error', `redirects to https://elsewhere.example/healthz. Apple does not follow redirects.`),
  ])
})

test('an answer of another server is an error, and no answer a warning', async () => {
  const { app, base_url, checks } = await openBehindProxy()
  const other = await openTestApp()
  const otherServer = await listen(other.windfall.http, { port: 0, shutdown_ms: 100 })
  onTestFinished(otherServer.close)
  app.windfall.http.configure({ base_url: otherServer.url })
  expect(about(await checks(), 'address:request')).toMatchObject([
    { status: 'error', detail: expect.stringContaining('did not reach this server') },
  ])
  expect(base_url).not.toBe(otherServer.url)
  app.windfall.http.configure({ base_url: 'http://127.0.0.1:1' })
  expect(about(await checks(), 'address')).toMatchObject([
    { id: 'address:notifications', status: 'warning', detail: expect.stringContaining('requires HTTPS') },
    { id: 'address:request', status: 'warning', detail: expect.stringContaining('ECONNREFUSED') },
    { id: 'address:browsers', status: 'ok' },
  ])
})

test('browsers at another address, refused hosts and untrusted forwarding headers are reported', async () => {
  const { app, server, checks } = await openBehindProxy()
  expect(about(await checks(), 'forwarded')).toMatchObject([{ status: 'ok' }])
  const post = (headers: Record<string, string>) =>
    new Promise<void>((resolve) => {
      const request = send(`${server.url}/api/v1/login`, { method: 'POST', headers }, (answer) => {
        answer.resume().on('end', resolve)
      })
      request.end('{}')
    })
  const { port } = new URL(server.url)
  app.windfall.http.configure({ base_url: 'http://127.0.0.1:1', trusted_proxies: ['10.0.0.1'] })
  await post({ host: 'revenue.example.com' })
  await post({
    host: `localhost:${port}`,
    origin: 'https://windfall.example.com',
    'sec-fetch-site': 'same-origin',
    'x-forwarded-for': '203.0.113.9',
  })
  const found = await checks()
  expect(about(found, 'address:browsers')).toMatchObject([
    {
      status: 'warning',
      detail:
        'There were requests for other addresses than http://127.0.0.1:1. 1 request from https://windfall.example.com; 1 request for the host revenue.example.com, refused with 421.',
    },
  ])
  expect(about(found, 'forwarded')).toMatchObject([
    {
      status: 'warning',
      detail: expect.stringContaining('Forwarding headers came from 127.0.0.1 (1 request)'),
      remedy: expect.stringContaining('server.trusted_proxies'),
    },
  ])
})

test('the certificate of the base URL is read, with how long it lasts and whether it is accepted', async () => {
  const { app, checks } = await openBehindProxy()
  const { chain, leaf_key } = await sharedAuthority()
  const pem = (der: Buffer) =>
    `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
  const key = leaf_key.export({ type: 'pkcs8', format: 'pem' })
  const server = createTlsServer({ key, cert: chain.slice(0, 2).map(pem).join('') })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  app.windfall.http.configure({ base_url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const [own, root] = about(await checks(), 'certificates')
  expect(own).toMatchObject({
    id: 'certificates:base_url',
    status: 'error',
    detail: expect.stringMatching(/valid until \d{4}-\d\d-\d\d \(\d+ days\)\. It is not accepted: \w+\.$/),
    remedy: expect.stringContaining('Renew the certificate'),
  })
  expect(root).toMatchObject({ id: 'certificates:apple_root', status: 'ok' })
})

test('passkeys of another host are reported', async () => {
  const { app, check } = await openChecked()
  const { store, http } = app.windfall
  expect(await check('passkeys')).toMatchObject([{ status: 'ok', detail: 'The owner has no passkey.' }])
  await store.commit(() =>
    store
      .prepare(
        `insert into passkeys (id, credential_id, public_key, host, name, transports, is_synced, counter, created_at)
         values ('psk_1', 'a', x'a0', 'localhost', 'Mac', '[]', 0, 0, 0)`,
      )
      .run(),
  )
  expect(await check('passkeys')).toMatchObject([
    {
      status: 'warning',
      detail: '1 passkey was added at localhost and cannot sign in at http://127.0.0.1:1.',
      remedy: expect.stringContaining('Set base_url to the address at which the passkeys were added'),
    },
  ])
  http.configure({ base_url: 'http://localhost:1' })
  expect(await check('passkeys')).toMatchObject([{ status: 'ok', detail: '1 passkey can sign in.' }])
})
