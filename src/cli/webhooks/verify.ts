/** Verifies the signature of a delivery as a receiver does (Standard Webhooks). */
import { timingSafeEqual } from 'node:crypto'
import { signaturesOf } from '../../forwarding/sending/signature.ts'

/** `timestamp` and `signatures` as the headers have them. */
type Signed = { id: string; timestamp: string; signatures: string; body: Buffer }

/** How far the time of an attempt may be from now. */
const TOLERANCE_SECONDS = 300

/** Why a signature is not accepted at `now` (ms); null if it is. */
export function faultOfSignature(secret: string, signed: Signed, now: number): string | null {
  const { id, timestamp, signatures, body } = signed
  if (!/^\d{1,12}$/.test(timestamp)) return 'the timestamp is missing or not a number'
  const difference = Math.round(Number(timestamp) - now / 1_000)
  if (Math.abs(difference) > TOLERANCE_SECONDS)
    return `the timestamp differs from the clock of this machine by ${difference} s`
  const expected = signaturesOf([secret], { id, timestamp: Number(timestamp), body })
  if (signatures.split(' ').some((one) => isSame(one, expected))) return null
  return signatures === ''
    ? 'there is no signature'
    : 'no signature matches: another secret, or a changed body'
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)]
  return left.length === right.length && timingSafeEqual(left, right)
}
