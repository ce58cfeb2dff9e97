/** The requests of the public SDKs that speak this API, over a socket, with only their base URL changed. */
import { expect, test } from 'vitest'
import { listen } from '../../../src/http/server.ts'
import { sha256Of } from '../../../src/ids.ts'
import { BUNDLE } from '../../apple/samples.ts'
import { closedAtEnd } from '../../closing.ts'
import { APP, authority, openAttested } from './enrolled.ts'

const ANONYMOUS = '$anon_1b4e28ba-2fa1-4d2e-9c3f-0a1b2c3d4e5f'
const DEVICE = { platform: 'ios', osVersion: '18.5', deviceModel: 'iPhone17,1', locale: 'en_US' }

type Answer = { status: number; body: Record<string, unknown> }

async function openServed() {
  const opened = await openAttested()
  const { windfall } = opened.app
  const server = closedAtEnd(await listen(windfall.http, { port: 0, shutdown_ms: 100 }))
  windfall.http.configure({ base_url: server.url })

  async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  return { ...opened, post }
}

test('an iOS app starts, buys, enrols, signs in and reports the purchase again', async () => {
  const { post, rows, signed } = await openServed()
  const base = { bundleId: BUNDLE, ...DEVICE }
  const pending = { 'X-RevenueHog-Unattested': 'pending' }
  expect(await post('/api/sdk/v1/identify', { appUserId: ANONYMOUS, ...base }, pending)).toMatchObject({
    status: 200,
    body: { verification: 'unverified' },
  })
  const { body: issued } = await post('/api/sdk/v1/attest/challenge', {})
  const challenge = String(issued.challenge)
  const device = authority.device(APP)
  const { status, body: enrolled } = await post('/api/sdk/v1/attest', {
    keyId: device.key_id,
    attestation: device.attest(sha256Of(Buffer.from(challenge, 'base64url'))).toString('base64'),
    challenge,
    bundleId: BUNDLE,
  })
  expect(status).toBe(200)
  const token = { Authorization: `Bearer ${enrolled.deviceToken}` }
  const purchase = { bundleId: BUNDLE, originalTransactionId: '2000000123456789', productId: 'pro.monthly' }
  const proved = { ...purchase, appUserId: ANONYMOUS, jws: await signed('2000000123456789') }
  expect(await post('/api/sdk/v1/attribute', proved, token)).toMatchObject({
    status: 200,
    body: { verification: 'verified', moved: false },
  })
  expect(
    await post('/api/sdk/v1/identify', { appUserId: 'user-1', ...base, attributes: { plan: 'pro' } }, token),
  ).toMatchObject({ status: 200, body: { verification: 'verified' } })
  expect(await post('/api/sdk/v1/attribute', { ...purchase, appUserId: 'user-1' }, token)).toMatchObject({
    status: 200,
    body: { moved: true, verification: 'unverified' },
  })
  expect(rows('select app_user_id, proved_app_user_id from links')).toEqual([
    { app_user_id: 'user-1', proved_app_user_id: ANONYMOUS },
  ])
})

test('a React Native app and an Android app, which cannot enrol', async () => {
  const { post } = await openServed()
  const unsupported = { 'X-RevenueHog-Unattested': 'unsupported' }
  const common = { appUserId: 'user-1', bundleId: BUNDLE }
  const calls: [string, object][] = [
    ['identify', { ...common, platform: 'ios', attributes: { plan: 'pro' } }],
    ['attribute', { ...common, originalTransactionId: '2000000123456789', productId: 'pro.monthly' }],
    ['identify', { ...common, platform: 'android' }],
    ['attribute', { ...common, originalTransactionId: 'play.purchase-token', productId: 'pro_monthly' }],
  ]
  for (const [name, body] of calls)
    expect(await post(`/api/sdk/v1/${name}`, body, unsupported), name).toMatchObject({
      status: 200,
      body: { verification: 'unverified' },
    })
})
