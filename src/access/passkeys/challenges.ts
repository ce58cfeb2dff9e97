/**
 * Challenges of passkeys: 4 bytes of time, 12 random bytes, and 16 bytes of an HMAC over both and the purpose. Only used
 * ones are remembered, so that nobody fills the memory by asking for them. A restart makes all of them invalid.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../clock.ts'

const HEAD_BYTES = 16
const MAC_BYTES = 16
/** How long a challenge is valid, in seconds. */
export const CHALLENGE_S = 5 * 60

export type Challenges = ReturnType<typeof openChallenges>

/** Opens the challenges. `clock` never jumps. */
export function openChallenges(clock: Clock) {
  const key = randomBytes(32)
  const usedAt = new Map<string, number>()

  const seconds = (): number => Math.floor(clock() / 1_000)

  const macOf = (head: Buffer, purpose: string): Buffer =>
    createHmac('sha256', key).update(head).update(purpose).digest().subarray(0, MAC_BYTES)

  /** A new challenge, in base64url. It counts once, for this purpose, within five minutes. */
  function issue(purpose: string): string {
    const head = randomBytes(HEAD_BYTES)
    head.writeUInt32BE(seconds() >>> 0)
    return Buffer.concat([head, macOf(head, purpose)]).toString('base64url')
  }

  /** Uses a challenge. False if it was used, has expired, or was not issued for this purpose. */
  function use(challenge: string, purpose: string): boolean {
    const bytes = Buffer.from(challenge, 'base64url')
    const head = bytes.subarray(0, HEAD_BYTES)
    const mac = bytes.subarray(HEAD_BYTES)
    if (mac.length !== MAC_BYTES || !timingSafeEqual(mac, macOf(head, purpose))) return false
    const age_s = seconds() - head.readUInt32BE()
    // The text of the bytes, because base64url can write the same bytes in several ways.
    const id = bytes.toString('hex')
    if (age_s < 0 || age_s >= CHALLENGE_S || usedAt.has(id)) return false
    forgetExpired()
    usedAt.set(id, seconds())
    return true
  }

  function forgetExpired(): void {
    for (const [id, at] of usedAt) {
      if (seconds() - at < CHALLENGE_S) return
      usedAt.delete(id)
    }
  }

  return { issue, use }
}
