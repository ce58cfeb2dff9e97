import { expect, test } from 'vitest'
import { customerId } from '../../src/ledger/customers.ts'
import { BUNDLE, transactionPayload } from '../apple/samples.ts'
import { openTestApp } from '../helpers.ts'

type LinkReason = { why: string; verification?: string; unattested?: string | null }
type Profile = {
  users: LinkReason[]
  links: LinkReason[]
  link_history: (Record<string, unknown> & LinkReason)[]
}

/** A Windfall with one customer, of lineage 100, and functions that send calls about them. */
async function openCalls() {
  const app = await openTestApp()
  const [lantern] = app.windfall.apps.list()
  const jws = app.authority.sign(
    transactionPayload({ transactionId: '100', originalTransactionId: '100', bundleId: BUNDLE }),
  )
  const call = (path: string, more: object, headers: Record<string, string> = {}) =>
    app.post(`/api/sdk/v1/${path}`, { bundleId: BUNDLE, ...more }, headers)
  const attribute = (appUserId: string, more: object = {}, headers: Record<string, string> = {}) =>
    call('attribute', { appUserId, originalTransactionId: '100', ...more }, headers)
  const token = await app.token()
  const profile = async () => {
    const id = customerId(lantern?.id ?? '', 'production', '100')
    const response = await app.request(`/api/v1/customers/${id}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(response.status).toBe(200)
    return (await response.json()) as Profile
  }
  const bearer = async (kind: 'publishable' | 'secret') => ({
    authorization: `Bearer ${await app.key(kind)}`,
  })
  return { app, jws, call, attribute, profile, bearer }
}

test('explains why a link is verified or not', async () => {
  const { jws, attribute, profile, bearer } = await openCalls()
  await attribute('ann', { jws })
  expect((await profile()).links).toMatchObject([
    {
      verification: 'verified',
      why: 'Apple’s signature over this purchase came with a call that named this user.',
    },
  ])
  await attribute('ann', {}, await bearer('secret'))
  expect((await profile()).links[0]?.why).toBe(
    'Apple’s signature over this purchase came with a call that named this user, and your backend named this user with the secret key.',
  )
  await attribute('bob', {}, { 'x-windfall-unattested': 'simulator' })
  const { links, link_history } = await profile()
  expect(links).toMatchObject([
    {
      app_user_id: 'bob',
      proved_app_user_id: 'ann',
      verification: 'unverified',
      credential: 'none',
      unattested: 'simulator',
      why: 'Claimed by a call without a key, from an unattested device (it is a simulator); no Apple signature came with the call. The proved user is ann: Apple’s signature over this purchase came with a call that named this user, and your backend named this user with the secret key.',
    },
  ])
  expect(link_history).toMatchObject([
    {
      from_app_user_id: 'ann',
      from_verification: 'verified',
      from_credential: 'secret',
      to_app_user_id: 'bob',
      to_verification: 'unverified',
      to_credential: 'none',
      can_undo: true,
    },
    // Another proof for the same user does not move the link.
    { from_app_user_id: 'ann', to_app_user_id: 'ann', can_undo: false },
  ])
})

test('a purchase that only your backend proved is unverified', async () => {
  const { jws, attribute, profile, bearer } = await openCalls()
  await attribute('zoe', { jws })
  await attribute('ann', {}, await bearer('publishable'))
  expect((await profile()).links[0]?.why).toContain(
    'Claimed by a call with the publishable key, which every copy of the app holds; no Apple signature came with the call. The proved user is zoe',
  )
  await attribute('ann', {}, await bearer('secret'))
  expect((await profile()).links[0]).toMatchObject({
    verification: 'unverified',
    why: 'Your backend named this user with the secret key; no Apple signature over this purchase came with it.',
  })
})

test('a user has the device and an explanation of the label', async () => {
  const { jws, call, attribute, profile, bearer } = await openCalls()
  const device = { platform: 'iOS', osVersion: '26.1', deviceModel: 'iPhone18,1', locale: 'de_DE' }
  await call('identify', { appUserId: 'ann', ...device }, { 'x-windfall-unattested': 'pending' })
  await attribute('ann', { jws })
  expect((await profile()).users).toMatchObject([
    {
      platform: 'ios',
      os_version: '26.1',
      device_model: 'iPhone18,1',
      locale: 'de_DE',
      verification: 'unverified',
      unattested: 'pending',
      why: 'The last call came without a secret key or an attested device (its attestation is not finished).',
    },
  ])
  await call('identify', { appUserId: 'ann' }, await bearer('secret'))
  expect((await profile()).users).toMatchObject([
    {
      verification: 'verified',
      why: 'An attested device, or your backend with the secret key, made the last call.',
    },
  ])
})

test('explains a purchase that an anonymous install proved and a user then claimed; the label stays', async () => {
  const { jws, attribute, profile, bearer } = await openCalls()
  const anonymous = '$anon_0e9f6c1a-6d1f-4b0e-9a52-3c1f0d5b7e11'
  await attribute(anonymous, { jws })
  await attribute('user_42', {}, { 'x-windfall-unattested': 'unsupported' })
  const { links, link_history } = await profile()
  const why =
    'An anonymous install bought this, and user_42 claimed it later without Apple’s signature. To verify it, ask the customer to tap Restore Purchases in the current version of your app, which sends the signature.'
  expect(links).toMatchObject([
    {
      app_user_id: 'user_42',
      proved_app_user_id: anonymous,
      verification: 'unverified',
      handed_over: true,
      why,
    },
  ])
  expect(link_history[0]?.why).toBe(why)
  await attribute('user_42', {}, await bearer('publishable'))
  // Another anonymous install is not a user who signed in.
  await attribute('$anon_7c9e6679-7425-40de-944b-e07fc1f90ae7')
  expect((await profile()).links).toMatchObject([
    { handed_over: false, why: expect.stringContaining(`The proved user is ${anonymous}`) },
  ])
  await attribute('user_42', { jws })
  expect((await profile()).links).toMatchObject([{ verification: 'verified', handed_over: false }])
})

const UUIDS = ['0E9F6C1A-6D1F-4B0E-9A52-3C1F0D5B7E11', '7c9e6679-7425-40de-944b-e07fc1f90ae7'] as const

test.each([
  ['$RCAnonymousID:87c6049c58069238dce29853916d624c', 'An anonymous install bought this'],
  ['$SuperwallAlias:7c9e6679-7425-40de-944b-e07fc1f90ae7', 'An anonymous install bought this'],
  [UUIDS[0], 'What looks like an anonymous install bought this'],
  ['anon_ann', 'The proved user is anon_ann'],
  [`user-${UUIDS[1]}`, `The proved user is user-${UUIDS[1]}`],
])('describes a purchase proved by %s according to the form of the id', async (proved, words) => {
  const { jws, attribute, profile } = await openCalls()
  await attribute(proved, { jws })
  await attribute('user_42')
  expect((await profile()).links[0]?.why).toContain(words)
  // If users have such ids, one that claims another's purchase has the usual explanation.
  await attribute(UUIDS[1])
  expect((await profile()).links[0]?.why).toContain(`The proved user is ${proved}`)
})
