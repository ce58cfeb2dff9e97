/** `/api/sdk/v1/attest`: devices enrol with App Attest and get a token. */
import * as v from 'valibot'
import type { Callers } from '../../attribution/callers.ts'
import type { Attest } from '../../attribution/devices/attest.ts'
import { attestationFailed } from '../../attribution/devices/devices.ts'
import type { RefusedCalls } from '../../attribution/refused_calls.ts'
import { openWindow } from '../../attribution/window.ts'
import type { Clock } from '../../clock.ts'
import { header, readJson } from '../../http/body/body.ts'
import { clientOf } from '../../http/clients/client.ts'
import { type Access, defineRoute, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'

type Deps = {
  store: Pick<Store, 'assertFreeSpace'>
  /** A clock that never jumps, for the rate window. */
  monotonic: Clock
  callers: Pick<Callers, 'appOf'>
  attest: Pick<Attest, 'challenges' | 'enrol'>
  refusedCalls: Pick<RefusedCalls, 'countRefusals' | 'noteClaim'>
}

/** The calls of an address in a minute, over both endpoints. */
const CALLS_A_MINUTE = 60
/** An attestation of 16 kB in base64, and the other fields. */
const BODY_BYTES = 24_576
const KEY_BYTES = 32

const base64 = (bytes: number) =>
  v.pipe(v.string(), v.nonEmpty(), v.maxLength(Math.ceil(bytes / 3) * 4), v.base64())

const EnrolmentCall = v.object({
  keyId: v.pipe(base64(KEY_BYTES), v.description('The id of the key, as DCAppAttestService returns it')),
  attestation: v.pipe(base64(16_384), v.description('The attestation object, in base64')),
  challenge: v.pipe(v.string(), v.maxLength(64), v.description('The challenge, as it was received')),
  bundleId: v.pipe(v.string(), v.nonEmpty(), v.maxLength(255)),
})

const PUBLIC: Access<null> = {
  security: ['sdk_key', 'none'],
  refusals: { 429: 'rate_limited' },
  admit: () => null,
}

export function enrolmentRoutes({ store, monotonic, callers, attest, refusedCalls }: Deps): Route[] {
  const addresses = openWindow('address', () => CALLS_A_MINUTE, monotonic)
  const common = { method: 'POST', tag: 'SDK', access: PUBLIC, cors: true } as const

  return [
    defineRoute({
      ...common,
      path: '/api/sdk/v1/attest/challenge',
      summary: 'Returns a challenge for App Attest, valid for five minutes',
      answers: { 200: { description: 'The challenge', schema: v.object({ challenge: v.string() }) } },
      async handler({ event }) {
        addresses.admit(clientOf(event).address)
        store.assertFreeSpace()
        return { challenge: (await attest.challenges.issue()).toString('base64url') }
      },
    }),
    defineRoute({
      ...common,
      path: '/api/sdk/v1/attest',
      summary: 'Enrols a device: exchanges an attestation for a device token',
      body: EnrolmentCall,
      around: refusedCalls.countRefusals,
      async read_body(event) {
        addresses.admit(clientOf(event).address)
        store.assertFreeSpace()
        return refusedCalls.noteClaim(event, await readJson(event, BODY_BYTES))
      },
      answers: { 200: { description: 'Enrolled', schema: v.object({ deviceToken: v.string() }) } },
      refusals: {
        401: 'invalid_key',
        403: 'attestation_failed, app_not_in_organization',
        404: 'unknown_app',
        409: 'ambiguous_app',
      },
      async handler({ event, body }) {
        const request = {
          key_id: bytesOf(body.keyId, 'base64', 'key_id'),
          challenge: bytesOf(body.challenge, 'base64url', 'challenge'),
          attestation: Buffer.from(body.attestation, 'base64'),
        }
        const authorization = header(event, 'authorization') ?? null
        const app = () => callers.appOf({ authorization, bundle_id: body.bundleId, isAndroid: false })
        return { deviceToken: await attest.enrol(app, request) }
      },
    }),
  ]
}

/** Decodes 32 bytes, whose text must be the canonical one. */
function bytesOf(text: string, encoding: 'base64' | 'base64url', step: string): Buffer {
  const bytes = Buffer.from(text, encoding)
  if (bytes.length === KEY_BYTES && bytes.toString(encoding) === text) return bytes
  throw attestationFailed(step, `the text is not ${encoding} of 32 bytes`)
}
