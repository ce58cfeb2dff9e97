import { createHash, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { customerId } from '../../../src/ledger/customers.ts'
import {
  APPLE_ID,
  BUNDLE,
  dataBody,
  NOW,
  outerPayload,
  renewalPayload,
  transactionPayload,
} from '../../apple/samples.ts'
import { openTestApp, type TestApp } from '../../helpers.ts'

const OTHER = 'com.example.other'
const TOKEN = 'ab12cd34-0000-4000-8000-00000000beef'

type Signed = {
  id: number
  kind: string
  source: string
  sha256: string
  jws: string | null
  withheld: boolean
  payload: Record<string, unknown>
  nested: { in: string; payload: Record<string, unknown> }[]
  chain: { subject: string; issuer: string; not_before: number; not_after: number; sha256: string }[]
  root_trusted: boolean
}
type Body = Record<string, unknown> & { evidence: Signed[]; next: string | null; code?: string }

async function openEvidence() {
  const app = await openTestApp({ apps: [{ bundle_id: BUNDLE, apple_id: APPLE_ID }, { bundle_id: OTHER }] })
  const token = await app.token()
  const get = async (path: string, bearer = token) => {
    const response = await app.request(`/api/v1/${path}`, { headers: { authorization: `Bearer ${bearer}` } })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const eventId = (type: string): string =>
    app.feed([type]).find((event) => event.type === type)?.id ?? 'evt_none'
  return { app, get, eventId }
}

/** One notification of lineage 100, as it was sent. */
async function notified(app: TestApp, uuid: string, changes: Record<string, unknown> = {}): Promise<string> {
  const { type: givenType, ...more } = changes
  const type = String(givenType ?? 'DID_RENEW')
  const names = { originalTransactionId: '100', bundleId: BUNDLE, appAccountToken: TOKEN, ...more }
  const inside = {
    signedTransactionInfo: app.authority.sign(transactionPayload({ transactionId: '100', ...names })),
    ...(type.startsWith('DID_') && {
      signedRenewalInfo: app.authority.sign(
        renewalPayload({ originalTransactionId: names.originalTransactionId, appAccountToken: TOKEN }),
      ),
    }),
  }
  const outer = { notificationUUID: uuid, notificationType: type }
  const signedPayload = app.authority.sign(outerPayload(dataBody(inside), outer))
  expect((await app.post('/apple/notifications', { signedPayload })).status).toBe(200)
  return signedPayload
}

test('returns an event’s signed payloads byte for byte, with certificates', async () => {
  const { app, get, eventId } = await openEvidence()
  const sent = await notified(app, 'uuid-1')
  const { status, body } = await get(`events/${eventId('subscription.renewed')}/evidence`)
  expect(status).toBe(200)
  expect(body.evidence).toHaveLength(1)
  const [one] = body.evidence
  expect(one).toMatchObject({
    kind: 'notification',
    source: 'push',
    received_at: NOW,
    signed_at: NOW,
    jws: sent,
    withheld: false,
    payload: { notificationUUID: 'uuid-1', notificationType: 'DID_RENEW' },
    nested: [
      { in: 'data.signedTransactionInfo', payload: { transactionId: '100', price: 4_990 } },
      { in: 'data.signedRenewalInfo', payload: { autoRenewStatus: 1 } },
    ],
    root_trusted: true,
  })
  const signed = sent.split('.')[1] ?? ''
  expect(one?.sha256).toBe(createHash('sha256').update(signed).digest('hex'))
  const root = new X509Certificate(app.authority.root_pem)
  expect(one?.chain).toHaveLength(3)
  expect(one?.chain[2]).toEqual({
    subject: root.subject.replaceAll('\n', ', '),
    issuer: root.issuer.replaceAll('\n', ', '),
    not_before: root.validFromDate.getTime(),
    not_after: root.validToDate.getTime(),
    sha256: root.fingerprint256.replaceAll(':', '').toLowerCase(),
  })
  expect(one?.chain[0]?.issuer).toBe(one?.chain[1]?.subject)
})

test('returns an event with its app, its customer and the number of signed payloads', async () => {
  const { app, get, eventId } = await openEvidence()
  await notified(app, 'uuid-1')
  await app.post('/api/sdk/v1/identify', { appUserId: 'ann', bundleId: BUNDLE })
  const [lantern] = app.windfall.apps.byBundle(BUNDLE)
  const id = eventId('subscription.renewed')
  expect((await get(`events/${id}`)).body).toMatchObject({
    event: {
      id,
      type: 'subscription.renewed',
      cause: 'uuid-1',
      subject: '100',
      customer: { id: customerId(lantern?.id ?? '', 'production', '100'), figures: { ltv_milli: 4_990 } },
    },
    app: { id: lantern?.id, bundle_id: BUNDLE, name: null },
    evidence: 1,
  })
  const identified = eventId('customer.identified')
  expect((await get(`events/${identified}`)).body).toMatchObject({ event: { customer: null }, evidence: 0 })
  expect((await get(`events/${identified}/evidence`)).body).toEqual({ evidence: [] })
  // A single transaction has the text that brought it.
  const recorded = await get(`events/${eventId('transaction.recorded')}/evidence`)
  expect(recorded.body.evidence.map(({ kind }) => kind)).toEqual(['notification'])
})

test('a signed transaction from a device is the evidence of the link', async () => {
  const { app, get, eventId } = await openEvidence()
  const jws = app.authority.sign(transactionPayload({ transactionId: '900', originalTransactionId: '900' }))
  const call = { appUserId: 'ann', bundleId: BUNDLE, originalTransactionId: '900', jws }
  expect((await app.post('/api/sdk/v1/attribute', call)).status).toBe(200)
  const { evidence } = (await get(`events/${eventId('customer.linked')}/evidence`)).body
  expect(evidence).toMatchObject([{ kind: 'transaction', source: 'device', jws, nested: [] }])
})

test('lists the signed payloads of every lineage of a customer in pages', async () => {
  const { app, get } = await openEvidence()
  const sent = [
    await notified(app, 'uuid-1'),
    await notified(app, 'uuid-2', { type: 'DID_CHANGE_RENEWAL_STATUS', signedDate: NOW + 1 }),
    // The same account bought something that does not renew, and Apple gave that back.
    await notified(app, 'uuid-3', {
      type: 'ONE_TIME_CHARGE',
      transactionId: '700',
      originalTransactionId: '700',
    }),
    await notified(app, 'uuid-4', {
      type: 'REFUND',
      transactionId: '700',
      originalTransactionId: '700',
      revocationDate: NOW,
      revocationReason: 0,
      signedDate: NOW + 2,
    }),
  ]
  await notified(app, 'uuid-5', { transactionId: '800', originalTransactionId: '800', appTransactionId: '9' })
  const [lantern] = app.windfall.apps.byBundle(BUNDLE)
  const id = customerId(lantern?.id ?? '', 'production', '700')
  const { body } = await get(`customers/${id}/evidence`)
  expect(body.evidence.map(({ jws }) => jws)).toEqual(sent.toReversed())
  expect(body.next).toBeNull()

  const paged: (string | null)[] = []
  for (let cursor = ''; ; ) {
    const page = (await get(`customers/${id}/evidence?limit=3${cursor}`)).body
    paged.push(...page.evidence.map(({ jws }) => jws))
    if (page.next === null) break
    cursor = `&cursor=${page.next}`
  }
  expect(paged).toEqual(sent.toReversed())
})

test('withholds a signed text that names an erased user, and returns its content without them', async () => {
  const { app, get, eventId } = await openEvidence()
  await notified(app, 'uuid-1')
  const [lantern] = app.windfall.apps.byBundle(BUNDLE)
  const { store, erasures } = app.windfall
  // The app writes it in capitals, Apple in small letters.
  const request = {
    app_id: lantern?.id ?? '',
    app_user_id: TOKEN.toUpperCase(),
    asked_by: 'test',
    even_unknown: true,
  }
  const { id } = await store.commit(() => erasures.erase(request))
  await erasures.finished(id)
  for (const path of [
    `events/${eventId('subscription.renewed')}/evidence`,
    `customers/${customerId(lantern?.id ?? '', 'production', '100')}/evidence`,
  ]) {
    const { body } = await get(path)
    expect(body.evidence).toMatchObject([
      { jws: null, withheld: true, payload: { notificationUUID: 'uuid-1' }, root_trusted: true },
    ])
    expect(JSON.stringify(body).toLowerCase()).not.toContain(TOKEN)
    expect(JSON.stringify(body)).not.toContain('eyJ')
    expect(body.evidence[0]?.nested[0]?.payload).toMatchObject({ transactionId: '100', price: 4_990 })
  }
})

test('refuses readers of other apps and requests without a token', async () => {
  const { app, get, eventId } = await openEvidence()
  await notified(app, 'uuid-1')
  const [lantern] = app.windfall.apps.byBundle(BUNDLE)
  const [other] = app.windfall.apps.byBundle(OTHER)
  const narrow = (organization_id: string, apps: string[] | null) =>
    app.windfall.store.commit(() => app.windfall.tokens.create('narrow', { organization_id, apps }).token)
  const readers = [await narrow(app.organization.id, [other?.id ?? '']), await narrow('org_elsewhere', null)]
  const id = eventId('subscription.renewed')
  const customer = customerId(lantern?.id ?? '', 'production', '100')
  for (const bearer of readers) {
    for (const path of [`events/${id}`, `events/${id}/evidence`])
      expect(await get(path, bearer)).toMatchObject({ status: 404, body: { code: 'unknown_event' } })
    expect(await get(`customers/${customer}/evidence`, bearer)).toMatchObject({
      status: 404,
      body: { code: 'unknown_customer' },
    })
  }
  for (const path of [`events/${id}`, `events/${id}/evidence`, `customers/${customer}/evidence`])
    expect((await get(path, 'wf_nothing')).status).toBe(401)
})

test.each([
  ['events/evt_none', 404, 'unknown_event'],
  ['events/evt_none/evidence', 404, 'unknown_event'],
  ['events/evt_none?limit=1', 400, 'invalid_request'],
  ['customers/cus_none/evidence', 404, 'unknown_customer'],
  ['customers/cus_none/evidence?limit=0', 400, 'invalid_request'],
  ['customers/cus_none/evidence?cursor=abc', 400, 'invalid_request'],
  ['customers/cus_none/evidence?before=1', 400, 'invalid_request'],
])('%s is refused', async (path, status, code) => {
  const { get } = await openEvidence()
  expect(await get(path)).toMatchObject({ status, body: { code } })
})
