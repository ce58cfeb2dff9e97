import { verify, X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openVerifier } from '../../src/apple/jws/signed.ts'
import { verifyNotification } from '../../src/apple/notification.ts'
import { openAuthority } from '../../src/demo/signing/authority.ts'
import { signerOf } from '../../src/demo/signing/signatures.ts'
import type { Step } from '../../src/demo/world/steps.ts'
import { signNotification } from '../../src/demo/world/unsigned.ts'
import { nonEmpty } from '../non_empty.ts'
import { EVERY_NOTIFICATION } from './every_notification.ts'
import { DAY, FROM, nameOf, notificationsOf, open, play, UNTIL, unsigned } from './run_simulation.ts'

const normal = play()

test('gives the same history for the same seed, and another for another seed', () => {
  const once = play({ seed: 7, subscribers: 120 })
  const again = play({ seed: 7, subscribers: 120 })
  const other = play({ seed: 8, subscribers: 120 })
  expect(JSON.stringify(again.steps)).toBe(JSON.stringify(once.steps))
  expect(JSON.stringify(again.books.entries)).toBe(JSON.stringify(once.books.entries))
  expect(JSON.stringify(other.steps)).not.toBe(JSON.stringify(once.steps))
})

test('has 7,000 to 9,000 notifications of every type and subtype at normal size', () => {
  const names = new Set(normal.notifications.map((step) => nameOf(step.payload)))
  const missing = EVERY_NOTIFICATION.map(([type, subtype]) => `${type}/${subtype ?? '-'}`)
  expect(missing.filter((name) => !names.has(name))).toEqual([])
  expect(normal.notifications.length).toBeGreaterThan(7_000)
  expect(normal.notifications.length).toBeLessThan(9_000)
})

test('returns steps in order of time, within the history', () => {
  const times = normal.steps.map((step) => step.at)
  expect(times).toEqual([...times].sort((a, b) => a - b))
  expect(times[0]).toBeGreaterThanOrEqual(FROM)
  expect(times.at(-1)).toBeLessThanOrEqual(UNTIL)
})

test('delivers nothing before it is signed, and some notifications late or twice', () => {
  const ids = normal.notifications.map((step) => step.payload.notificationUUID)
  const delays = normal.notifications.map((step) => step.at - step.payload.signedDate)
  expect(Math.min(...delays)).toBeGreaterThan(0)
  expect(Math.max(...delays)).toBeGreaterThan(12 * 3_600_000)
  expect(new Set(ids).size).toBeLessThan(ids.length)
  expect(new Set(ids).size).toBeGreaterThan(ids.length * 0.98)
})

test('gives the same history in slices and in one run', () => {
  const sliced = open({ seed: 3, subscribers: 60 })
  const steps: Step[] = []
  for (let at = FROM; at <= UNTIL + 30 * DAY; at += 13 * DAY) steps.push(...sliced.advance(at))
  const whole = open({ seed: 3, subscribers: 60 })
  const last = FROM + Math.floor((UNTIL + 30 * DAY - FROM) / (13 * DAY)) * 13 * DAY
  expect(JSON.stringify(steps)).toBe(JSON.stringify([...whole.advance(last)]))
})

test('gives the same history and the same signed texts when it signs ahead', async () => {
  const authority = await openAuthority({ now: UNTIL })
  const of = { seed: 3, subscribers: 12, edgeCases: true, from: UNTIL - 90 * DAY }
  const ahead: Step[] = []
  for await (const step of open({ ...of, authority }).stepsAhead()) ahead.push(step)
  const unsignedOf = (steps: readonly Step[]) =>
    steps.map(({ at, ...step }) => JSON.stringify([at, 'payload' in step ? step.payload : step.body]))
  expect(unsignedOf(ahead)).toEqual(unsignedOf([...open(of).steps()]))

  const verifier = openVerifier({ roots: [authority.root_pem], clock: () => UNTIL })
  const notifications = notificationsOf(ahead)
  expect(new Set(notifications.map(({ payload }) => payload)).size).toBeLessThan(notifications.length)
  for (const { payload, body } of notifications) {
    expect(body).toEqual(signNotification(payload, signerOf(authority)))
    await verifyNotification(verifier, body.signedPayload)
  }
})

test('returns each step once, and continues from the last', () => {
  const simulation = open({ seed: 5, subscribers: 60 })
  expect([...simulation.steps()].length).toBeGreaterThan(0)
  expect([...simulation.steps()]).toEqual([])
  const later = [...simulation.advance(UNTIL + 20 * DAY)]
  expect(later.length).toBeGreaterThan(0)
  expect(later.every((step) => step.at > UNTIL && step.at <= UNTIL + 20 * DAY)).toBe(true)
})

test('delivers the same steps in the same order when the world was simulated ahead', () => {
  const ahead = open({ seed: 3, subscribers: 60 })
  ahead.catchUp(FROM + 200 * DAY)
  const first = [...ahead.advance(FROM + 100 * DAY)]
  ahead.catchUp(FROM + 250 * DAY)
  const steps = [...first, ...ahead.advance(FROM + 300 * DAY), ...ahead.steps()]
  expect(JSON.stringify(steps)).toBe(JSON.stringify(play({ seed: 3, subscribers: 60 }).steps))
})

test('never delivers skipped steps, but delivers later ones', () => {
  const simulation = open({ seed: 3, subscribers: 60 })
  simulation.skip(FROM + 300 * DAY)
  const later = [...simulation.steps()]
  const whole = play({ seed: 3, subscribers: 60 }).steps
  expect(JSON.stringify(later)).toBe(JSON.stringify(whole.filter((step) => step.at > FROM + 300 * DAY)))
})

test('loses a share of the notifications and changes nothing else', () => {
  const options = { seed: 3, subscribers: 120, from: UNTIL - 180 * DAY }
  const simulation = open(options)
  simulation.lose({ fraction: 0.2 })
  const left = [...simulation.steps()]
  const whole = play(options).steps
  const lost = new Set(simulation.lost().map((sent) => sent.payload.notificationUUID))
  const arrives = (step: Step) => step.kind !== 'notification' || !lost.has(step.payload.notificationUUID)
  expect(JSON.stringify(left)).toBe(JSON.stringify(whole.filter(arrives)))
  const share = 1 - notificationsOf(left).length / notificationsOf(whole).length
  expect(share).toBeGreaterThan(0.14)
  expect(share).toBeLessThan(0.26)
})

test('adds customers at a given rate', () => {
  const simulation = open({ seed: 5, subscribers: 60 })
  for (const _step of simulation.steps());
  const purchases = (steps: Iterable<Step>) =>
    [...steps].filter(
      (s) => s.kind === 'notification' && /SUBSCRIBED|ONE_TIME/.test(s.payload.notificationType),
    )
  let bought = 0
  for (let second = 1; second <= 600; second += 1)
    bought += purchases(simulation.advance(UNTIL + second * 1000, { purchases_per_minute: 20 })).length
  expect(bought).toBeGreaterThan(120)
  expect(bought).toBeLessThan(280)
})

test('has many cases in short histories with rare events', () => {
  const names = new Set<string>()
  let notifications = 0
  for (let seed = 0; seed < 60; seed += 1) {
    const history = play({ seed, subscribers: 1 + (seed % 5), edgeCases: true, until: FROM + 300 * DAY })
    notifications += history.notifications.length
    expect(history.notifications.length).toBeLessThan(120)
    for (const step of history.notifications) names.add(nameOf(step.payload))
  }
  expect(notifications / 60).toBeGreaterThan(12)
  expect(names.size).toBeGreaterThan(30)
})

test('completes in order for any seed', () => {
  fc.assert(
    fc.property(
      fc.integer(),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      (seed, subscribers, edgeCases) => {
        const { steps } = play({ seed, subscribers, edgeCases })
        for (const [index, step] of nonEmpty(steps).entries())
          expect(step.at).toBeGreaterThanOrEqual(steps[index - 1]?.at ?? FROM)
      },
    ),
    { numRuns: 60 },
  )
})

test('sends SDK calls for most customers, including anonymous and Android ones', () => {
  const identified = normal.steps.filter((step) => step.kind === 'identify')
  const attributed = normal.steps.filter((step) => step.kind === 'attribute')
  const proved = attributed.filter((step) => step.proof === 'purchase')
  const android = attributed.filter((step) => step.body.platform === 'android')
  expect(identified.length).toBeGreaterThan(500)
  expect(identified.some((step) => step.body.attributes?.cohort !== undefined)).toBe(true)
  expect(identified.every((step) => step.body.deviceModel && step.body.osVersion && step.body.locale)).toBe(
    true,
  )
  expect(proved.length / attributed.length).toBeGreaterThan(0.35)
  expect(proved.length / attributed.length).toBeLessThan(0.65)
  expect(proved.every((step) => step.body.jws !== undefined && step.payload !== undefined)).toBe(true)
  expect(attributed.some((step) => step.body.appUserId.startsWith('$anon_'))).toBe(true)
  expect(android.length).toBeGreaterThan(20)
  expect(android.every((step) => step.proof === null && step.body.jws === undefined)).toBe(true)
})

test('attributes some transactions before Apple’s notification', () => {
  const customers = new Set<string>()
  let early = 0
  for (const step of normal.steps) {
    if (step.kind === 'notification') {
      const id = step.payload.data?.signedTransactionInfo?.originalTransactionId
      if (id !== undefined) customers.add(id)
    } else if (step.kind === 'attribute' && step.body.platform === 'ios') {
      early += Number(!customers.has(step.body.originalTransactionId ?? ''))
    }
  }
  expect(early).toBeGreaterThan(50)
})

test('signs every payload with the leaf of the chain', async () => {
  const authority = await openAuthority({ now: UNTIL })
  const leaf = new X509Certificate(authority.chain[0] ?? Buffer.alloc(0))
  const key = { key: leaf.publicKey, dsaEncoding: 'ieee-p1363' as const }
  const read = (jws: string | undefined) => {
    const [header, payload, signature] = (jws ?? '').split('.')
    const text = Buffer.from(`${header}.${payload}`)
    expect(verify('sha256', text, key, Buffer.from(signature ?? '', 'base64url'))).toBe(true)
    return JSON.parse(Buffer.from(payload ?? '', 'base64url').toString())
  }
  for (const step of open({ seed: 2, subscribers: 60, authority, until: FROM + 200 * DAY }).steps()) {
    if (step.kind === 'attribute' && step.payload) expect(read(step.body.jws)).toEqual(step.payload)
    if (step.kind !== 'notification') continue
    const outer = read(step.body.signedPayload)
    const { data, appData } = outer
    if (data?.signedTransactionInfo) data.signedTransactionInfo = read(data.signedTransactionInfo)
    if (data?.signedRenewalInfo) data.signedRenewalInfo = read(data.signedRenewalInfo)
    if (appData) appData.signedAppTransactionInfo = read(appData.signedAppTransactionInfo)
    expect(outer).toEqual(step.payload)
  }
})

test('signs nothing before its step is read', () => {
  let signatures = 0
  const sign = (payload: object) => {
    signatures += 1
    return unsigned.sign(payload)
  }
  const steps = open({ subscribers: 60, authority: { sign } }).steps()
  expect(signatures).toBe(0)
  steps.next()
  expect(signatures).toBeLessThanOrEqual(3)
})
