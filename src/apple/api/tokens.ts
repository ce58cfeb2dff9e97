/** Tokens that authenticate requests to Apple's APIs (JSON Web Tokens, RFC 7519, signed with ES256). */
import { createPrivateKey } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { AppleFault } from './faults.ts'
import { type ApiKey, problemOfKey } from './keys.ts'

/** Returns the current token while it is valid, or a new one after Apple rejected it. */
export type Tokens = ReturnType<typeof openTokens>

const MINUTE_MS = 60_000
/** App Store Connect rejects tokens valid for more than 20 minutes, the Server API for more than 60. */
const LIFETIME_MS = { connect: 18 * MINUTE_MS, server: 45 * MINUTE_MS }
const RENEW_BEFORE_MS = 2 * MINUTE_MS

function signerOf(key: ApiKey) {
  const problem = problemOfKey(key.private_key)
  if (problem !== null) throw new AppleFault('unauthorized', `The private key cannot be used: ${problem}`)
  const secret = createPrivateKey(key.private_key)
  return async (claims: Record<string, string>, from: number, until: number): Promise<string> => {
    const { SignJWT } = await import('jose')
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid: key.key_id, typ: 'JWT' })
      .setIssuedAt(Math.floor(from / 1000))
      .setExpirationTime(Math.floor(until / 1000))
      .setAudience('appstoreconnect-v1')
      .sign(secret)
  }
}

/**
 * Tokens of one key: for App Store Connect, or with `bundle_id` for one app's Server API. A token is reused until near
 * its expiry, or until the clock is set back before its start; `isForced` creates another immediately. Throws
 * AppleFault `unauthorized` if the private key is not valid.
 */
export function openTokens(key: ApiKey, options: { clock: Clock; bundle_id?: string }) {
  const { clock, bundle_id } = options
  const lifetime_ms = bundle_id === undefined ? LIFETIME_MS.connect : LIFETIME_MS.server
  const claims: Record<string, string> = {
    ...(key.issuer_id === null ? { sub: 'user' } : { iss: key.issuer_id }),
    ...(bundle_id !== undefined && { bid: bundle_id }),
  }
  let sign: ReturnType<typeof signerOf> | undefined
  let last: { token: Promise<string>; from: number; until: number } | undefined

  return async (request: { isForced?: boolean } = {}): Promise<string> => {
    const now = clock()
    const isValid = last !== undefined && now >= last.from && now < last.until - RENEW_BEFORE_MS
    if (last !== undefined && isValid && request.isForced !== true) return last.token
    sign ??= signerOf(key)
    last = { token: sign(claims, now, now + lifetime_ms), from: now, until: now + lifetime_ms }
    return last.token
  }
}
