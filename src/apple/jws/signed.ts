/** Verifies that Apple signed a JWS. Only this file creates `Verified` values. */
import { hash, webcrypto, X509Certificate } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { openLimiter, openQueue } from '../../limiter.ts'
import { type Compact, decodeObject, decodePart, decodePayload, readHeader, splitCompact } from './compact.ts'
import { openLruCache } from './lru.ts'
import type { RevocationChecker } from './revocation.ts'
import { SignatureError } from './signature_error.ts'
import { assertValidAt, type Chain } from './validity.ts'

export { SignatureError, type SignatureFault } from './signature_error.ts'

const VERIFIED: unique symbol = Symbol('proved')

/**
 * A value that Apple signed: its payload, the exact signed text, and the SHA-256 (hex) of the encoded payload. The hash
 * identifies the fact, and `jws` does not, because one payload can have several valid ECDSA signatures.
 */
export type Verified<T> = Readonly<{ payload: T; jws: string; sha256: string }> & {
  readonly [VERIFIED]: true
}

/** `roots` are PEM. `in_flight` signatures are checked concurrently (default 128); 8 times as many can wait. */
type VerifierOptions = {
  roots: readonly string[]
  clock: Clock
  revocation?: RevocationChecker | undefined
  in_flight?: number | undefined
}

export type Verifier = ReturnType<typeof openVerifier>

/** Apple uses about two leaves a year and one intermediate, so this is enough. */
const MAX_CACHED_CHAINS = 64
/** ES256 for WebCrypto. WebCrypto and JWS use the same format of signatures: r, then s (RFC 7518 §3.4). */
const ES256 = { name: 'ECDSA', hash: 'SHA-256' }

/**
 * Transforms a verified payload; the result is verified too. Use it to rename or parse fields, never to add data that
 * Apple did not sign.
 */
export function mapVerified<From, To>(
  verified: Verified<From>,
  transform: (payload: From) => To,
): Verified<To> {
  return {
    payload: transform(verified.payload),
    jws: verified.jws,
    sha256: verified.sha256,
    [VERIFIED]: true,
  }
}

function readPayload(text: string): Record<string, unknown> {
  const payload = decodeObject(decodePayload(text))
  if (payload !== null) return payload
  throw new SignatureError('payload', 'the payload is not a JSON object in UTF-8')
}

/** The payload's signing date, which app transactions name `receiptCreationDate`; now for a payload without a date. */
function signingTime(payload: Record<string, unknown>, clock: Clock): number {
  const time = payload.signedDate ?? payload.receiptCreationDate ?? clock()
  if (typeof time === 'number') return time
  throw new SignatureError('payload', 'the date of signing is not a number')
}

/**
 * Refuses Xcode's environments, where purchases are free and unlimited, and unknown environments. A notification has
 * its environment in a nested body, which `notification_payload.ts` checks.
 */
export function assertStore(environment: unknown): void {
  if (environment === 'Production' || environment === 'Sandbox') return
  if (environment === 'Xcode' || environment === 'LocalTesting') {
    throw new SignatureError('xcode', 'made by Xcode’s local store, which proves nothing about the App Store')
  }
  const named = JSON.stringify(environment) ?? 'none'
  throw new SignatureError('environment', `the environment must be Production or Sandbox, got ${named}`)
}

function tooMany(): Refusal {
  const detail = 'too many signatures are waiting for verification; try again'
  return new Refusal(503, 'busy', detail, { headers: { 'retry-after': '1' } })
}

/** Opens a verifier for the pinned roots. It caches the chains it has verified. */
export function openVerifier(options: VerifierOptions) {
  const { clock, revocation, in_flight = 128 } = options
  const roots = options.roots.map((pem) => new X509Certificate(pem))
  const limiter = openLimiter(in_flight, openQueue(in_flight * 8, tooMany))
  const chainByHeader = openLruCache<Chain>(MAX_CACHED_CHAINS)
  const chainByCertificates = openLruCache<Chain>(MAX_CACHED_CHAINS)

  /** Caches chains by their certificates as well, because an attacker can vary the header around a genuine chain. */
  async function chainOf(header: string): Promise<Chain> {
    const certificates = readHeader(header)
    const name = certificates.join()
    const known = chainByCertificates.get(name)
    if (known !== undefined) return known
    // The decoder of certificates is large, and a start needs none of it.
    const { verifyChain } = await import('./chain.ts')
    const chain = verifyChain(certificates, roots)
    chainByCertificates.set(name, chain)
    return chain
  }

  function assertNotRevoked(chain: Chain): void {
    if (revocation?.stateOf(chain) !== 'revoked') return
    throw new SignatureError('revoked', 'Apple has revoked a certificate of the chain that signed this')
  }

  /** Expensive work, including decoding, runs within the limiter. */
  async function verifySignature(compact: Compact, chain: Chain): Promise<Record<string, unknown>> {
    const signature = decodePart(compact.signature, 'signature')
    const payload = readPayload(compact.payload)
    assertValidAt(chain, signingTime(payload, clock))
    const input = Buffer.from(compact.input)
    if (await webcrypto.subtle.verify(ES256, chain.key, signature, input)) return payload
    throw new SignatureError('signature', 'the signature does not match the signed text')
  }

  /**
   * Verifies a compact JWS: its chain ends in a pinned root and was valid at the payload's signing date, and its key
   * signed exactly this text. The payload is a JSON object, which the caller parses. Throws SignatureError; Refusal
   * 503 `busy` if too many signatures wait.
   */
  async function verify(jws: string): Promise<Verified<Record<string, unknown>>> {
    const compact = splitCompact(jws)
    const chain = chainByHeader.get(compact.header) ?? (await chainOf(compact.header))
    const payload = await limiter.run(() => verifySignature(compact, chain))
    assertNotRevoked(chain)
    if (chainByHeader.get(compact.header) === undefined) chainByHeader.set(compact.header, chain)
    const environment = payload.environment ?? payload.receiptType
    if (environment !== undefined) assertStore(environment)
    return { payload, jws, sha256: hash('sha256', compact.payload, 'hex'), [VERIFIED]: true }
  }

  return { verify }
}
