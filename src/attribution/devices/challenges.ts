/**
 * Challenges of enrolment. They are stateless: 4 bytes of time, 12 random bytes, and 16 bytes of an HMAC over both with
 * this instance's key. Only those that an enrolment used are stored.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { sha256Of } from '../../ids.ts'
import { openInstanceKey } from '../../store/instance_key.ts'
import type { Store } from '../../store/store.ts'

const TIME_BYTES = 4
const RANDOM_BYTES = 12
const MAC_BYTES = 16
const VALID_S = 5 * 60
/** A clock that was corrected may lag behind the time of a challenge. */
const SKEW_S = 60

export type Challenges = ReturnType<typeof openChallenges>

/** Opens the challenges. */
export function openChallenges(store: Store, clock: Clock) {
  const key = openInstanceKey(store, 'challenge_key')

  /** A new challenge: 32 bytes, valid for five minutes. The first one ever creates the key. */
  async function issue(): Promise<Buffer> {
    const secret = key.get() ?? (await store.commit(key.make))
    const head = Buffer.alloc(TIME_BYTES + RANDOM_BYTES)
    head.writeUInt32BE(seconds())
    randomBytes(RANDOM_BYTES).copy(head, TIME_BYTES)
    return Buffer.concat([head, macOf(secret, head)])
  }

  /** Why a challenge cannot be used; null if this instance issued it within the last five minutes. */
  function faultOf(challenge: Buffer): string | null {
    const secret = key.get()
    const head = challenge.subarray(0, TIME_BYTES + RANDOM_BYTES)
    const mac = challenge.subarray(TIME_BYTES + RANDOM_BYTES)
    if (secret === null || mac.length !== MAC_BYTES || !timingSafeEqual(mac, macOf(secret, head)))
      return 'this server did not issue the challenge'
    const age_s = seconds() - head.readUInt32BE()
    return age_s > VALID_S || age_s < -SKEW_S ? 'the challenge is older than five minutes' : null
  }

  const seconds = (): number => Math.floor(clock() / 1_000)

  return { issue, faultOf }
}

/** A used challenge is stored for longer than it is valid, so that a clock that is set back does not renew it. */
const KEEP_USED_MS = 86_400_000

/** Opens the challenges that enrolments used, each with its attestation. All functions run inside a unit of work. */
export function openUsedChallenges(store: Store, clock: Clock) {
  const find = store.prepare<[Buffer], { attestation_hash: Buffer }>(
    'select attestation_hash from used_challenges where hash = ?',
  )
  const insert = store.prepare<[Buffer, Buffer, number]>(
    'insert into used_challenges (hash, attestation_hash, used_at) values (?, ?, ?)',
  )
  const drop = store.prepare<[number]>('delete from used_challenges where used_at < ?')

  /** Uses a challenge for an attestation. False if it was used for another one. */
  function use(challenge: Buffer, attestation: Buffer): boolean {
    const [hash, attestation_hash] = [sha256Of(challenge), sha256Of(attestation)]
    const used = find.get(hash)
    if (used === undefined) insert.run(hash, attestation_hash, clock())
    return used === undefined || used.attestation_hash.equals(attestation_hash)
  }

  /** Deletes challenges that have long expired. */
  const expire = (): void => void drop.run(clock() - KEEP_USED_MS)

  return { use, expire }
}

const macOf = (secret: Buffer, head: Buffer): Buffer =>
  createHmac('sha256', secret).update(head).digest().subarray(0, MAC_BYTES)
