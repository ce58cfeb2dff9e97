/** What we compute: whether Apple signed what arrived. The only place in the program where a thing becomes proved. */
import { hash, webcrypto, X509Certificate } from 'node:crypto'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { openLimiter, openQueue } from '../../limiter.ts'
import { assertValidAt, type Chain, verifyChain } from './chain.ts'
import { type Compact, decodeObject, decodePart, decodePayload, readHeader, splitCompact } from './compact.ts'
import { openLruCache } from './lru.ts'
import type { RevocationChecker } from './revocation.ts'
import { SignatureError } from './signature_error.ts'

export { SignatureError, type SignatureFault } from './signature_error.ts'

const VERIFIED: unique symbol = Symbol('proved')

/**
 * Something that Apple signed: what it says; the signed text itself, byte for byte; and the SHA-256, in hex, of its
 * payload as sent, which is what makes it the same fact: signatures of one payload can differ, also without the key.
 * Nobody outside of this file can make one.
 */
export type Verified<T> = Readonly<{ payload: T; jws: string; sha256: string }> & {
  readonly [VERIFIED]: true
}

/** `roots` are PEM; `in_flight` signatures are checked at once (default 128), 8 times as many may wait. */
type VerifierOptions = {
  roots: readonly string[]
  clock: Clock
  revocation?: RevocationChecker | undefined
  in_flight?: number | undefined
}

export type Verifier = ReturnType<typeof openVerifier>

/** Two leaves a year, and Apple uses one intermediate: this is plenty. */
const MAX_CACHED_CHAINS = 64
/** WebCrypto takes r and s side by side, as JWS does (RFC 7518 §3.4), and nothing of any other length. */
const ES256 = { name: 'ECDSA', hash: 'SHA-256' }

/**
 * What is proved, said in other words: the proof goes over to what `say` makes of the payload. For turning
 * Apple's words into ours, never for adding what Apple did not say.
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

/** When the payload says that it was signed. App transactions name it by the creation of their receipt. */
function signingTime(payload: Record<string, unknown>, clock: Clock): number {
  const time = payload.signedDate ?? payload.receiptCreationDate ?? clock()
  if (typeof time === 'number') return time
  throw new SignatureError('payload', 'the date of signing is not a number')
}

/**
 * Refuses worlds in which purchases are free and unlimited, or unknown to us. Notifications name theirs one level
 * further down, where `notification.ts` looks.
 */
export function assertStore(environment: unknown): void {
  if (environment === 'Production' || environment === 'Sandbox') return
  if (environment === 'Xcode' || environment === 'LocalTesting') {
    throw new SignatureError('xcode', 'made by Xcode’s local store, which proves nothing about the App Store')
  }
  const named = JSON.stringify(environment) ?? 'none'
  throw new SignatureError(
    'environment',
    `the environment must be Production or Sandbox, this names ${named}`,
  )
}

function tooMany(): Refusal {
  const detail = 'more signatures are waiting to be checked than this machine can check in time'
  return new Refusal(503, 'busy', detail, { headers: { 'retry-after': '1' } })
}

/** What proves signed texts against the pinned roots; it remembers the chains it has proved. */
export function openVerifier(options: VerifierOptions) {
  const { clock, revocation, in_flight = 128 } = options
  const roots = options.roots.map((pem) => new X509Certificate(pem))
  const limiter = openLimiter(in_flight, openQueue(in_flight * 8, tooMany))
  const byHeader = openLruCache<Chain>(MAX_CACHED_CHAINS)
  const byCertificates = openLruCache<Chain>(MAX_CACHED_CHAINS)

  /** By its certificates too: a forger can vary the header around a genuine chain at will. */
  function chainOf(header: string): Chain {
    const certificates = readHeader(header)
    const name = certificates.join()
    const known = byCertificates.get(name)
    if (known !== undefined) return known
    const chain = verifyChain(certificates, roots)
    byCertificates.set(name, chain)
    return chain
  }

  function assertNotRevoked(chain: Chain): void {
    if (revocation?.stateOf(chain) !== 'revoked') return
    throw new SignatureError('revoked', 'Apple has revoked a certificate of the chain that signed this')
  }

  /** What takes time and room waits for the limiter, the decoding included. */
  async function verifySignature(parts: Compact, chain: Chain): Promise<Record<string, unknown>> {
    const signature = decodePart(parts.signature, 'signature')
    const payload = readPayload(parts.payload)
    assertValidAt(chain, signingTime(payload, clock))
    const input = Buffer.from(parts.input)
    if (await webcrypto.subtle.verify(ES256, chain.key, signature, input)) return payload
    throw new SignatureError('signature', 'the signature does not fit what was signed')
  }

  /**
   * Proves a compact JWS: its chain ends in a pinned root, was valid when the payload says that it was signed, and
   * its key signed exactly this text. The payload is a JSON object; what it means is the caller's to read.
   * Throws SignatureError, or Refusal 503 `busy` when too many wait.
   */
  async function verify(jws: string): Promise<Verified<Record<string, unknown>>> {
    const parts = splitCompact(jws)
    const chain = byHeader.get(parts.header) ?? chainOf(parts.header)
    const payload = await limiter.run(() => verifySignature(parts, chain))
    assertNotRevoked(chain)
    if (byHeader.get(parts.header) === undefined) byHeader.set(parts.header, chain)
    const environment = payload.environment ?? payload.receiptType
    if (environment !== undefined) assertStore(environment)
    return { payload, jws, sha256: hash('sha256', parts.payload, 'hex'), [VERIFIED]: true }
  }

  return { verify }
}
