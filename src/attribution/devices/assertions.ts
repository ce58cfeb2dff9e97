/** Checks the assertion of an SDK call: the device's key signed this request. */
import { createHash } from 'node:crypto'
import { AttestError } from '../../apple/attest/attest_error.ts'
import { Refusal } from '../../errors.ts'
import type { Device } from './devices.ts'

/** off: assertions are ignored. when_sent: a wrong one is refused. required: each call of a device needs one. */
export type AssertionPolicy = 'off' | 'when_sent' | 'required'

/** What is known about the assertion of an accepted call. sent: there was one, and it was not checked. */
export type AssertionState = 'none' | 'sent' | 'verified'

/** The text of the header, and the SHA-256 of what the device signed. */
export type SentAssertion = { text: string; client_data_hash: Buffer }

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/**
 * The SHA-256 of what the device signs for a call: the method, the path, and the body as sent, separated by line feeds.
 */
export const clientDataHash = (path: string, body: Uint8Array): Buffer =>
  createHash('sha256').update(`POST\n${path}\n`).update(body).digest()

/**
 * Checks the assertion of a call by `device`. Returns its counter, null if it was not checked.
 *
 * @throws Refusal 401 `assertion_required`, 401 `invalid_assertion`.
 */
export async function checkAssertion(
  device: Device,
  sent: SentAssertion | null,
  policy: AssertionPolicy,
): Promise<number | null> {
  if (policy === 'off') return null
  if (sent === null) {
    if (policy === 'when_sent') return null
    const detail = 'calls of devices need an assertion in the header x-windfall-assertion'
    throw new Refusal(401, 'assertion_required', detail)
  }
  if (!BASE64.test(sent.text)) throw invalid('format: the header is not base64')
  const { verifyAssertion } = await import('../../apple/attest/assertion.ts')
  const { public_key, app_identifier: app_id } = device
  const assertion = Buffer.from(sent.text, 'base64')
  try {
    return verifyAssertion({ assertion, client_data_hash: sent.client_data_hash, public_key, app_id })
  } catch (error) {
    if (error instanceof AttestError) throw invalid(`${error.step}: ${error.message}`)
    throw error
  }
}

const invalid = (message: string): Refusal => new Refusal(401, 'invalid_assertion', message)
