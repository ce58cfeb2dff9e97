/** A Windfall that trusts simulated devices, and the calls that such devices make. */
import { openDeviceAuthority } from '../../../src/demo/signing/devices.ts'
import { sha256Of } from '../../../src/ids.ts'
import { APPLE_ID, BUNDLE, NOW, transactionPayload } from '../../apple/samples.ts'
import { handClock, openTestApp, sharedAuthority, type TestOptions } from '../../helpers.ts'

export const PREFIX = 'A1B2C3D4E5'
export const APP = { bundle_id: BUNDLE, apple_id: APPLE_ID, team_id: PREFIX }
export const authority = openDeviceAuthority(NOW)

export type Device = ReturnType<typeof authority.device>
type Attesting = Parameters<Device['attest']>[1]

/** The answer of an endpoint, with the step of a refused attestation. */
type Answer = {
  status: number
  code: string | undefined
  step: string | undefined
  body: Record<string, unknown>
}

/** Opens Windfall with one app whose prefix is known. Devices are valid around the start of the clock. */
export async function openAttested(options: TestOptions = {}) {
  const clock = handClock()
  const app = await openTestApp({ apps: [APP], clock, attest_roots: [authority.root_pem], ...options })

  async function challenge(): Promise<string> {
    const { body } = await app.post('/api/sdk/v1/attest/challenge', {})
    return String(body.challenge)
  }

  /** The request of an enrolment, complete. */
  const enrolmentOf = (device: Device, text: string, changes?: Attesting, bundleId = BUNDLE) => ({
    keyId: device.key_id,
    attestation: device.attest(sha256Of(Buffer.from(text, 'base64url')), changes).toString('base64'),
    challenge: text,
    bundleId,
  })

  async function send(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const { status, body: answer } = await app.post(path, body, headers)
    const detail = typeof answer.detail === 'string' ? answer.detail : undefined
    const step = answer.code === 'attestation_failed' ? detail?.split(':')[0] : undefined
    return { status, code: answer.code, step, body: answer }
  }

  const attest = (request: object, headers?: Record<string, string>) =>
    send('/api/sdk/v1/attest', request, headers)

  /** Enrols a device and returns its token. Throws if it is refused. */
  async function enrol(device: Device = authority.device(APP), changes?: Attesting): Promise<string> {
    const { status, body } = await attest(enrolmentOf(device, await challenge(), changes))
    if (status !== 200) throw new Error(`the enrolment was refused: ${JSON.stringify(body)}`)
    return String(body.deviceToken)
  }

  const bearer = (token: string | null): Record<string, string> =>
    token === null ? {} : { authorization: `Bearer ${token}` }

  const identify = (token: string | null, appUserId: string, more: object = {}, headers = {}) =>
    send('/api/sdk/v1/identify', { appUserId, bundleId: BUNDLE, ...more }, { ...bearer(token), ...headers })

  const attribute = (token: string | null, appUserId: string, originalTransactionId: string, more = {}) =>
    send(
      '/api/sdk/v1/attribute',
      { appUserId, bundleId: BUNDLE, originalTransactionId, ...more },
      bearer(token),
    )

  /** Sends a call with an assertion of `device` over exactly this body, or over another text. */
  async function asserted(device: Device, token: string, appUserId: string, changes: Asserting = {}) {
    const body = JSON.stringify({ appUserId, bundleId: BUNDLE, ...changes.more })
    const path = '/api/sdk/v1/identify'
    const clientData = changes.signed ?? `POST\n${path}\n${body}`
    const assertion =
      changes.assertion ??
      (changes.counter === undefined
        ? device.assert(clientData)
        : device.assertAt(changes.counter, clientData))
    const headers = {
      'content-type': 'application/json',
      'x-windfall-assertion': typeof assertion === 'string' ? assertion : assertion.toString('base64'),
      ...bearer(token),
    }
    const response = await app.request(path, { method: 'POST', headers, body })
    const answer = (await response.json()) as Record<string, unknown>
    return { status: response.status, code: answer.code as string | undefined, assertion }
  }

  /** A transaction that Apple signed. */
  const signed = async (originalTransactionId: string, over: Record<string, unknown> = {}): Promise<string> =>
    (await sharedAuthority()).sign(
      transactionPayload({ originalTransactionId, transactionId: originalTransactionId, ...over }),
    )

  const { store } = app.windfall
  const rows = (sql: string): Record<string, unknown>[] =>
    store.prepare<[], Record<string, unknown>>(sql).all()
  const devices = () => rows('select * from devices order by enrolled_at, id')

  return {
    app,
    clock,
    challenge,
    enrolmentOf,
    attest,
    enrol,
    send,
    identify,
    attribute,
    asserted,
    signed,
    rows,
    devices,
  }
}

type Asserting = {
  more?: object
  /** What the device signs, instead of this request. */
  signed?: string
  counter?: number
  /** The header, instead of a new assertion. */
  assertion?: Buffer | string
}
