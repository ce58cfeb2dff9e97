/** The two keys of the simulated team, and the verification of their tokens. */
import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import type { ApiKey } from '../../apple/api/keys.ts'
import type { Clock } from '../../clock.ts'

type Claims = { iss?: string; sub?: string; bid?: unknown; iat?: number; exp?: number }

/** `max_life_seconds` is the longest validity of a token that is accepted. */
type AuthenticatorOptions = { key: ApiKey; clock: Clock; max_life_seconds: number }

function newKey(key_id: string, issuer_id: string): ApiKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { key_id, issuer_id, private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

/** Creates the team's App Store Connect key and In-App Purchase key, which have the same issuer id. */
export function newKeys(): { connect_key: ApiKey; purchase_key: ApiKey } {
  const issuer = randomUUID()
  return { connect_key: newKey('CNCT4K7W2Q', issuer), purchase_key: newKey('PRCH9M3X5L', issuer) }
}

function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid
  } catch {
    return undefined
  }
}

/** Checks a token's claims: its issuer and its validity. */
function areClaimsValid(claims: Claims, options: AuthenticatorOptions): boolean {
  const { iss, sub, iat = Number.NaN, exp = Number.NaN } = claims
  const now = options.clock() / 1000
  const isFromTeam = iss === options.key.issuer_id || (iss === undefined && sub === 'user')
  return isFromTeam && exp > now && exp - Math.min(iat, now) <= options.max_life_seconds
}

/**
 * Returns a function that verifies an `Authorization` header: a bearer token (ES256, audience appstoreconnect-v1) that the
 * key signed. It returns the claims, or null if the token is not valid. Each token's signature is verified once.
 */
export function openAuthenticator(options: AuthenticatorOptions) {
  const { key, clock } = options
  const publicKey: KeyObject = createPublicKey(key.private_key)
  const verifiedTokens = new Map<string, Claims>()

  async function verifyToken(token: string): Promise<Claims | null> {
    if (keyIdOf(token) !== key.key_id) return null
    const options = {
      algorithms: ['ES256'],
      audience: 'appstoreconnect-v1',
      currentDate: new Date(clock()),
      clockTolerance: 60,
    }
    try {
      const { payload } = await jwtVerify<Claims>(token, publicKey, options)
      verifiedTokens.set(token, payload)
      return payload
    } catch {
      return null
    }
  }

  return async (authorization: string | null): Promise<Claims | null> => {
    const [, token] = /^Bearer (\S+)$/.exec(authorization ?? '') ?? []
    if (token === undefined) return null
    const claims = verifiedTokens.get(token) ?? (await verifyToken(token))
    return claims !== null && areClaimsValid(claims, options) ? claims : null
  }
}
