/** A simulated App Store over HTTP. Its tokens are made with jose instead of the product's code. */
import { createPrivateKey } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { SignJWT } from 'jose'
import type { ApiKey } from '../../../src/apple/api/keys.ts'
import type { Authority } from '../../../src/demo/signing/authority.ts'
import { openSimulation } from '../../../src/demo/simulation.ts'
import { openAppStore } from '../../../src/demo/store/store.ts'
import type { LossRule } from '../../../src/demo/world/sent_log.ts'
import { closedAtEnd } from '../../closing.ts'
import { handClock } from '../../helpers.ts'

export const DAY = 86_400_000
export const UNTIL = Date.UTC(2026, 2, 1, 20)
const FROM = UNTIL - 730 * DAY
export const TIDES = 'com.lanternlabs.tides'

type Claims = Record<string, unknown>
export type TestStore = Awaited<ReturnType<typeof openTestStore>>

/** An authority without cryptography, for tests that only read payloads. */
export const quick = {
  sign: (payload: object) =>
    `quick.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.${String(Math.random()).slice(2)}`,
}

/** Decodes the payload of a JWS. */
export function read(jws: string) {
  return JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString())
}

/** Parses a report file into objects by column. */
export function rowsOf(file: Buffer): Record<string, string>[] {
  const [header = '', ...lines] = gunzipSync(file).toString().trimEnd().split('\n')
  const columns = header.split('\t')
  return lines.map((line) => {
    const cells = line.split('\t')
    return Object.fromEntries(columns.map((column, index) => [column, (cells[index] ?? '').trim()]))
  })
}

export async function openTestStore(
  options: {
    seed?: number
    subscribers?: number
    edgeCases?: boolean
    from?: number
    lost?: LossRule
    authority?: Pick<Authority, 'sign'>
  } = {},
) {
  const { seed = 1, subscribers = 200, edgeCases, from = FROM, authority = quick } = options
  const clock = handClock(UNTIL)
  const simulation = openSimulation({ seed, from, until: UNTIL, subscribers, edgeCases, authority })
  const store = await openAppStore({
    simulation,
    authority,
    clock,
    ...(options.lost && { lost: options.lost }),
  })

  async function token(key: ApiKey, claims: Claims = {}): Promise<string> {
    const now = Math.floor(clock() / 1000)
    const all: Claims = { iss: key.issuer_id, iat: now, exp: now + 600, aud: 'appstoreconnect-v1', ...claims }
    const header = { alg: 'ES256', kid: key.key_id, typ: 'JWT' }
    return new SignJWT(all).setProtectedHeader(header).sign(createPrivateKey(key.private_key))
  }

  async function send(url: string, init: RequestInit, key: ApiKey, claims: Claims) {
    const authorization = `Bearer ${await token(key, claims)}`
    const answer = await fetch(url, { ...init, headers: { ...init.headers, authorization } })
    const body = Buffer.from(await answer.arrayBuffer())
    const json =
      answer.headers.get('content-type') === 'application/json' ? JSON.parse(body.toString()) : null
    return { status: answer.status, headers: answer.headers, body, json }
  }

  /** Requests a path of App Store Connect with a token of its key. */
  const connect = (path: string, claims: Claims = {}, accept = 'application/json', key = store.connect_key) =>
    send(
      path.startsWith('http') ? path : `${store.hosts.connect}${path}`,
      { headers: { accept } },
      key,
      claims,
    )

  function report(reportType: string, reportDate: string, more: Record<string, string> = {}) {
    const { accept = 'application/a-gzip', ...other } = more
    const filters = {
      frequency: 'DAILY',
      reportType,
      reportSubType: reportType === 'SUBSCRIBER' ? 'DETAILED' : 'SUMMARY',
      vendorNumber: store.vendor_number,
      reportDate,
      version: reportType === 'SALES' ? '1_0' : '1_4',
      ...other,
    }
    const query = Object.entries(filters).map(([name, value]) => `filter[${name}]=${value}`)
    return connect(`/v1/salesReports?${query.join('&')}`, {}, accept)
  }

  /** Requests a path of the App Store Server API for one app. With a body the method is POST. */
  function server(
    path: string,
    o: { body?: object; sandbox?: boolean; bid?: string; claims?: Claims; key?: ApiKey } = {},
  ) {
    const origin = store.hosts.server[o.sandbox ? 'sandbox' : 'production']
    const init =
      o.body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(o.body), headers: { 'content-type': 'application/json' } }
    return send(`${origin}${path}`, init, o.key ?? store.purchase_key, { bid: o.bid ?? TIDES, ...o.claims })
  }

  return closedAtEnd({ simulation, store, clock, connect, report, server, token, close: store.close })
}
