/** Enrolment over the endpoints: what is accepted, what each fault is called, and that a failure changes nothing. */
import { expect, test } from 'vitest'
import { dayOfUtc } from '../../../src/days.ts'
import { openDeviceAuthority } from '../../../src/demo/signing/devices.ts'
import { textOfFinding } from '../../../src/health/findings.ts'
import { BUNDLE, NOW } from '../../apple/samples.ts'
import { APP, authority, openAttested, PREFIX } from './enrolled.ts'

const MINUTE = 60_000
const DAY = 86_400_000

test('a device enrols and makes verified calls with its token', async () => {
  const { identify, enrol, devices } = await openAttested()
  const details = new Map<string, string | Uint8Array>([
    ['apple_bundle_version_01', '412'],
    ['apple_validation_category_01', Uint8Array.of(2, 0, 0, 0)],
    ['apple_later_01', 'x'],
  ])
  const token = await enrol(authority.device(APP), { details })
  expect(token).toMatch(/^dt_[\w-]{43}$/)
  expect(await identify(token, 'ada')).toMatchObject({ status: 200, body: { verification: 'verified' } })
  expect(devices()).toMatchObject([
    {
      app_identifier: `${PREFIX}.${BUNDLE}`,
      environment: 'production',
      category: 2,
      bundle_version: '412',
      os_version: '27.0',
      details: '{"apple_later_01":"x"}',
      counter: 0,
      used_on: dayOfUtc(NOW),
      revoked_at: null,
    },
  ])
  expect(JSON.stringify(devices())).not.toContain(token)
})

test('a lost answer: the same attestation gets a new token, which ends the old one', async () => {
  const { attest, challenge, clock, enrolmentOf, identify, devices } = await openAttested()
  const request = enrolmentOf(authority.device(APP), await challenge())
  const first = String((await attest(request)).body.deviceToken)
  clock.turn(4 * MINUTE)
  const second = String((await attest(request)).body.deviceToken)
  expect(second).not.toBe(first)
  expect(devices()).toHaveLength(1)
  expect((await identify(first, 'ada')).body.verification).toBe('unverified')
  expect((await identify(second, 'ada')).body.verification).toBe('verified')
  clock.turn(2 * MINUTE)
  expect(await attest(request)).toMatchObject({ status: 403, step: 'challenge' })
  expect((await identify(second, 'ada')).body.verification).toBe('verified')
})

test('two requests with one attestation at the same time leave one valid token', async () => {
  const { attest, challenge, enrolmentOf, identify, devices } = await openAttested()
  const request = enrolmentOf(authority.device(APP), await challenge())
  const answers = await Promise.all([attest(request), attest(request)])
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
  const labels = await Promise.all(answers.map(({ body }) => identify(String(body.deviceToken), 'ada')))
  expect(labels.map(({ body }) => body.verification).sort()).toEqual(['unverified', 'verified'])
  expect(devices()).toHaveLength(1)
})

test('a challenge serves one attestation, even of another device at the same time', async () => {
  const { attest, challenge, enrolmentOf, devices } = await openAttested()
  const text = await challenge()
  const requests = [1, 2].map(() => enrolmentOf(authority.device(APP), text))
  const answers = await Promise.all(requests.map((request) => attest(request)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 403])
  expect(answers.find(({ status }) => status === 403)?.step).toBe('challenge')
  expect(devices()).toHaveLength(1)
})

test('challenges of others, changed ones, old ones and those of a clock that was set back are refused', async () => {
  const { attest, challenge, clock, enrolmentOf, devices } = await openAttested()
  const another = await openAttested()
  const refused = async (text: string): Promise<void> => {
    const answer = await attest(enrolmentOf(authority.device(APP), text))
    expect(answer).toMatchObject({ status: 403, code: 'attestation_failed', step: 'challenge' })
  }
  await refused(Buffer.alloc(32, 1).toString('base64url'))
  const text = await challenge()
  await refused(await another.challenge())
  const changed = Buffer.from(text, 'base64url')
  changed[3] = (changed[3] ?? 0) ^ 1
  await refused(changed.toString('base64url'))
  await refused(`${text}=`)
  await refused(text.slice(1))
  clock.turn(5 * MINUTE + 1_000)
  await refused(text)
  clock.set(NOW - 2 * MINUTE)
  await refused(text)
  clock.set(NOW + MINUTE)
  expect((await attest(enrolmentOf(authority.device(APP), text))).status).toBe(200)
  expect(devices()).toHaveLength(1)
})

test('a challenge outlives a restart, and so does its use', async () => {
  const first = await openAttested()
  const [used, unused] = [await first.challenge(), await first.challenge()]
  const device = authority.device(APP)
  const request = first.enrolmentOf(device, used)
  expect((await first.attest(request)).status).toBe(200)
  await first.app.windfall.close()
  const { attest, enrolmentOf } = await openAttested({ folder: first.app.folder })
  expect((await attest(request)).status).toBe(200)
  expect((await attest(enrolmentOf(authority.device(APP), used))).status).toBe(403)
  expect((await attest(enrolmentOf(authority.device(APP), unused))).status).toBe(200)
})

test('a stranger cannot enrol the key of another device, whose token stays valid', async () => {
  const { attest, challenge, clock, enrolmentOf, identify, devices } = await openAttested()
  const victim = authority.device(APP)
  const request = enrolmentOf(victim, await challenge())
  const token = String((await attest(request)).body.deviceToken)
  const own = enrolmentOf(authority.device(APP), await challenge())
  expect(await attest({ ...own, keyId: victim.key_id })).toMatchObject({ status: 403, step: 'key_id' })
  expect(await attest({ ...request, challenge: await challenge() })).toMatchObject({
    status: 403,
    step: 'nonce',
  })
  clock.turn(6 * MINUTE)
  expect(await attest(request)).toMatchObject({ status: 403, step: 'challenge' })
  expect((await identify(token, 'ada')).body.verification).toBe('verified')
  expect(devices()).toHaveLength(1)
})

test('each refused step is named, and nothing is stored', async () => {
  const { attest, challenge, enrolmentOf, rows } = await openAttested()
  const stranger = openDeviceAuthority(NOW)
  const other = authority.device({ ...APP, team_id: 'ZZZZZZZZZZ' })
  const cases: [string, object][] = [
    ['chain', enrolmentOf(stranger.device(APP), await challenge())],
    ['app_id', enrolmentOf(other, await challenge())],
    ['counter', enrolmentOf(authority.device(APP), await challenge(), { counter: 1 })],
    ['environment', enrolmentOf(authority.device(APP), await challenge(), { environment: 'development' })],
    ['nonce', { ...enrolmentOf(authority.device(APP), await challenge()), challenge: await challenge() }],
    [
      'key_id',
      { ...enrolmentOf(authority.device(APP), await challenge()), keyId: authority.device(APP).key_id },
    ],
    ['format', { ...enrolmentOf(authority.device(APP), await challenge()), attestation: 'AAAA' }],
  ]
  for (const [step, request] of cases)
    expect(await attest(request), step).toMatchObject({ status: 403, code: 'attestation_failed', step })
  expect(rows('select * from devices')).toEqual([])
  expect(rows('select * from used_challenges')).toEqual([])
})

test('a failed attestation does not use up its challenge', async () => {
  const { attest, challenge, enrolmentOf } = await openAttested()
  const text = await challenge()
  const device = authority.device(APP)
  expect((await attest({ ...enrolmentOf(device, text), attestation: 'AAAA' })).status).toBe(403)
  expect((await attest(enrolmentOf(device, text))).status).toBe(200)
})

test('malformed requests get 400, and huge ones 413', async () => {
  const { attest, challenge, enrolmentOf } = await openAttested()
  const request = enrolmentOf(authority.device(APP), await challenge())
  for (const change of [
    { keyId: '' },
    { keyId: 7 },
    { keyId: 'not base64!' },
    { attestation: undefined },
    { attestation: 'x'.repeat(22_000) },
    { bundleId: '' },
    { challenge: 'x'.repeat(100) },
  ])
    expect(await attest({ ...request, ...change }), JSON.stringify(change).slice(0, 60)).toMatchObject({
      status: 400,
      code: 'invalid_request',
    })
  expect(await attest({ ...request, padding: 'x'.repeat(30_000) })).toMatchObject({ status: 413 })
})

test('an app without a prefix is unknown, and the refused attestation suggests it', async () => {
  const { app, attest, challenge, enrolmentOf } = await openAttested({ apps: [{ bundle_id: BUNDLE }] })
  const { health } = app.windfall
  const texts = async () => (await health.findings()).map(textOfFinding)
  expect(await attest(enrolmentOf(authority.device(APP), await challenge()))).toMatchObject({
    status: 404,
    code: 'unknown_app',
  })
  expect(await texts()).toContainEqual(expect.stringContaining(`team_id = "${PREFIX}"`))
  expect(
    await attest(enrolmentOf(authority.device(APP), await challenge(), {}, 'com.example.unknown')),
  ).toMatchObject({ status: 404, code: 'unknown_app' })
})

test('a wrong prefix suggests the right one until a device enrols', async () => {
  const { app, attest, challenge, enrol, enrolmentOf } = await openAttested()
  const suggestions = async () =>
    (await app.windfall.health.findings()).map(textOfFinding).filter((text) => text.includes('team_id'))
  const other = authority.device({ ...APP, team_id: 'ZZZZZZZZZZ' })
  await attest(enrolmentOf(other, await challenge()))
  expect(await suggestions()).toHaveLength(1)
  const foreign = authority.device({ team_id: 'QQQQQQQQQQ', bundle_id: 'com.example.foreign' })
  await attest(enrolmentOf(foreign, await challenge()))
  expect((await suggestions())[0]).toContain('ZZZZZZZZZZ')
  await enrol()
  expect(await suggestions()).toEqual([])
})

test('a key chooses the organization of an app that several have', async () => {
  const { app, attest, challenge, enrolmentOf, devices } = await openAttested()
  const { organizations, apps, keys, store } = app.windfall
  const base = { name: 'Second', sdk_auth: 'any', time_zone: 'UTC', currency: 'USD' } as const
  const { slug } = app.organization
  await store.commit(() =>
    organizations.declare([
      { ...base, slug },
      { ...base, slug: 'second' },
    ]),
  )
  const second = organizations.resolve('second')
  const { token } = await store.commit(() => {
    apps.add(second.id, APP, 'test')
    return keys.create(second.id, 'publishable', 'test')
  })
  const request = async () => enrolmentOf(authority.device(APP), await challenge())
  expect(await attest(await request())).toMatchObject({ status: 409, code: 'ambiguous_app' })
  expect((await attest(await request(), { authorization: `Bearer ${token}` })).status).toBe(200)
  expect(apps.get(String(devices()[0]?.app_id))?.organization_id).toBe(second.id)
})

test('an address makes 60 calls a minute, and the window of the organization does not count them', async () => {
  const { clock, identify, send } = await openAttested({
    env: { WINDFALL_LIMITS_SDK_REQUESTS_PER_MINUTE: '1' },
  })
  const flood = async (): Promise<number> => {
    let accepted = 0
    for (let n = 0; n < 100; n += 1)
      accepted += Number((await send('/api/sdk/v1/attest/challenge', {})).status === 200)
    return accepted
  }
  expect(await flood()).toBe(60)
  expect(await send('/api/sdk/v1/attest', {})).toMatchObject({ status: 429, code: 'rate_limited' })
  expect((await identify(null, 'ada')).status).toBe(200)
  clock.turn(MINUTE)
  expect(await flood()).toBe(60)
})

test('housekeeping deletes devices that were not used for 400 days, and old challenges', async () => {
  const { app, clock, enrol, identify, rows, devices } = await openAttested()
  const token = await enrol()
  await enrol()
  clock.turn(DAY)
  await identify(token, 'ada')
  clock.turn(400 * DAY)
  await app.windfall.jobs.runNow('housekeeping')
  expect(devices()).toHaveLength(1)
  expect(rows('select * from used_challenges')).toEqual([])
  expect(rows('select * from device_users')).toHaveLength(1)
  // The first run after a jump of the clock deletes nothing.
  for (const days of [2, 0.5]) {
    clock.turn(days * DAY)
    await app.windfall.jobs.runNow('housekeeping')
  }
  expect(devices()).toEqual([])
  expect(rows('select * from device_users')).toEqual([])
})
