/** The revocation state of Apple's certificates, from its OCSP responder (RFC 6960). */
import type { X509Certificate } from 'node:crypto'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../clock.ts'
import { openLruCache } from './lru.ts'
import type { OcspResult } from './ocsp.ts'
import type { Chain } from './validity.ts'

/** `unknown` until the first response, and again when the last one is out of date. */
type Revocation = OcspResult['state']
export type RevocationChecker = ReturnType<typeof openRevocation>

/**
 * `hosts`: the only hosts that receive requests, whatever a certificate contains (default: Apple's). `timeoutMs`: the
 * timeout of a request. `log.warn` receives failures.
 */
export type RevocationOptions = {
  clock: Clock
  hosts?: readonly string[] | undefined
  timeoutMs?: number | undefined
  dispatcher?: Dispatcher | undefined
  log?: { warn: (message: string, fields?: Record<string, unknown>) => void } | undefined
}

/** The state of one certificate, and when to query it again, in milliseconds since the epoch. */
type CachedResult = OcspResult & { refresh_at: number }

const UNKNOWN_RESULT: OcspResult = { state: 'unknown', fresh_until: 0 }
const REFRESH_AFTER_MS = 15 * 60_000
const RETRY_AFTER_MS = 60_000
const MAX_RESPONSE_BYTES = 65_536
const MAX_CACHED = 256

async function readAll(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_RESPONSE_BYTES) throw new Error('the response is too large')
  }
  return Buffer.concat(chunks)
}

/** The URL of a responder that a certificate names; null if it names none or its host is not allowed. */
function permittedUrl(named: string | null, hosts: readonly string[]): URL | null {
  const url = named === null ? null : URL.parse(named)
  if (url === null || !hosts.includes(url.host)) return null
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : null
}

/** Sends a request (DER) and returns the raw response. Does not follow redirects. */
async function send(url: URL, ocspRequest: Buffer, signal: AbortSignal, dispatcher: Dispatcher | undefined) {
  const { request } = await import('undici')
  const { statusCode, body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/ocsp-request', accept: 'application/ocsp-response' },
    body: ocspRequest,
    signal,
    ...(dispatcher && { dispatcher }),
  })
  const answer = await readAll(body)
  if (statusCode !== 200) throw new Error(`the responder returned status ${statusCode}`)
  return answer
}

/** The state of a chain is the worse of its certificates' states. */
function worseOf(one: Revocation, other: Revocation): Revocation {
  if (one === 'revoked' || other === 'revoked') return 'revoked'
  return one === 'good' ? other : 'unknown'
}

/**
 * Opens the revocation check, which queries Apple in the background. It never delays a notification: the known state is
 * returned immediately, an unreachable responder changes nothing, and a revoked certificate stays revoked.
 */
export function openRevocation(options: RevocationOptions) {
  const { clock, hosts = ['ocsp.apple.com'], timeoutMs = 10_000, dispatcher, log } = options
  const cache = openLruCache<CachedResult>(MAX_CACHED)
  const checkById = new Map<string, Promise<void>>()
  const closing = new AbortController()

  async function query(certificate: X509Certificate, issuer: X509Certificate): Promise<OcspResult> {
    const { ocspRequestFor, responderOf, verifyOcspResponse } = await import('./ocsp.ts')
    const url = permittedUrl(responderOf(certificate), hosts)
    if (url === null) return UNKNOWN_RESULT
    const sent = ocspRequestFor(certificate, issuer)
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(timeoutMs)])
    return verifyOcspResponse(await send(url, sent.der, signal, dispatcher), sent, issuer, clock())
  }

  /** Queries and caches the state. After a failed request, the cached state stays until it is out of date. */
  async function check(certificate: X509Certificate, issuer: X509Certificate): Promise<void> {
    const id = certificate.fingerprint256
    try {
      const answer = await query(certificate, issuer)
      const earliest_at = Math.max(answer.fresh_until, clock() + RETRY_AFTER_MS)
      const refresh_at = Math.min(clock() + REFRESH_AFTER_MS, earliest_at)
      cache.set(id, { ...answer, refresh_at })
    } catch (error) {
      if (closing.signal.aborted) return
      cache.set(id, { ...(cache.get(id) ?? UNKNOWN_RESULT), refresh_at: clock() + RETRY_AFTER_MS })
      const reason = error instanceof Error ? error.message : String(error)
      log?.warn('the revocation check of a certificate failed', { reason, certificate: id })
    } finally {
      checkById.delete(id)
    }
  }

  function stateOfOne(certificate: X509Certificate, issuer: X509Certificate): Revocation {
    const id = certificate.fingerprint256
    const last = cache.get(id)
    if (last?.state === 'revoked') return 'revoked'
    const now = clock()
    const isDue = last === undefined || now >= last.refresh_at
    if (isDue && !checkById.has(id)) checkById.set(id, check(certificate, issuer))
    return last !== undefined && now < last.fresh_until ? last.state : 'unknown'
  }

  /** The cached state of leaf and intermediate. Refreshes it in the background once it is 15 minutes old. */
  function stateOf(chain: Chain): Revocation {
    return worseOf(stateOfOne(chain.leaf, chain.intermediate), stateOfOne(chain.intermediate, chain.root))
  }

  /** Resolves when no request is running. */
  async function whenIdle(): Promise<void> {
    while (checkById.size > 0) await Promise.all(checkById.values())
  }

  /** Aborts running requests, and all later ones. */
  async function close(): Promise<void> {
    closing.abort()
    await whenIdle()
  }

  return { stateOf, whenIdle, close }
}
