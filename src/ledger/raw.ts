/** Stores every signed payload, byte for byte. Payloads are compressed, and each certificate chain is stored once. */
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Clock } from '../clock.ts'
import type { Store } from '../store/store.ts'

/**
 * How a payload arrived. `push`: Apple sent it. `pending`: Apple sent it before the app was connected. `device`: a
 * client app sent it. `history`, `transactions`, `status`: Windfall read it from Apple's notification history,
 * transaction history or subscription statuses.
 */
export type Source = 'push' | 'pending' | 'device' | 'history' | 'transactions' | 'status'

/** `plain`: the deflated text. `folded`: the deflated text after every JWS in it was decoded (see `fold`). */
const CODECS = { plain: 0, folded: 1 }

/** A zlib dictionary of words in Apple's payloads. Never change it: stored payloads cannot be inflated without it. */
const DICTIONARY = Buffer.from(
  '{"notificationType":"DID_CHANGE_RENEWAL_STATUS","subtype":"AUTO_RENEW_DISABLED","notificationUUID":"' +
    'RENEWAL_PREFDID_FAIL_TO_RENEWGRACE_PERIODEXPIREDVOLUNTARYBILLING_RETRYSUBSCRIBEDRESUBSCRIBEINITIAL_BUYREFUND' +
    '"data":{"appAppleId":,"bundleId":"com.","bundleVersion":"","environment":"Sandbox","signedTransactionInfo":"' +
    '"transactionId":"2000000","originalTransactionId":"","webOrderLineItemId":"","productId":"",' +
    '"subscriptionGroupIdentifier":"","purchaseDate":17,"originalPurchaseDate":17,"expiresDate":17,"quantity":1,' +
    '"type":"Non-ConsumableAuto-Renewable Subscription","appAccountToken":"","inAppOwnershipType":"PURCHASED",' +
    '"signedDate":17,"offerType":1,"offerDiscountType":"FREE_TRIAL","offerPeriod":"P1W","environment":"Production",' +
    '"transactionReason":"PURCHASE","transactionReason":"RENEWAL","storefront":"USA","storefrontId":"143441",' +
    '"price":9990,"currency":"USD","appTransactionId":"70"},"signedRenewalInfo":"{"expirationIntent":1,' +
    '"autoRenewProductId":"","autoRenewStatus":1,"isInBillingRetryPeriod":false,"renewalPrice":9990,' +
    '"recentSubscriptionStartDate":17,"renewalDate":17,"status":1},"version":"2.0","signedDate":17}',
)

// A smaller window than zlib's default: a folded text is short, and zlib clears the whole window for each text.
const SETTINGS = { dictionary: DICTIONARY, windowBits: 14, memLevel: 7 }

const CHAIN_CACHE_SIZE = 64

export type RawPayloads = ReturnType<typeof openRawPayloads>

export function openRawPayloads(store: Store, clock: Clock) {
  const chainIds = new Map<string, number>()
  const chainOf = store.prepare<[Buffer], { id: number }>(
    'select id from certificate_chains where sha256 = ?',
  )
  const headerOf = store.prepare<[number], { header: string }>(
    'select header from certificate_chains where id = ?',
  )
  const addChain = store.prepare<[Buffer, string, number]>(
    'insert into certificate_chains (sha256, header, first_seen_at) values (?, ?, ?)',
  )
  const known = store.prepare<[string, Buffer], { id: number }>(
    'select id from signed_payloads where app_id = ? and sha256 = ?',
  )
  const insert = store.prepare<[string, Buffer, string, Source, number, Buffer, number]>(`
    insert into signed_payloads (app_id, sha256, kind, source, codec, body, received_at) values (?, ?, ?, ?, ?, ?, ?)`)
  const find = store.prepare<[number], { codec: number; body: Buffer }>(
    'select codec, body from signed_payloads where id = ?',
  )

  /** Stores a signed payload of an app and returns the id of its row. `is_new` is false if it was already stored. */
  function save(app_id: string, sha256: Buffer, kind: string, source: Source, jws: string) {
    const existing = known.get(app_id, sha256)
    if (existing) return { id: existing.id, is_new: false }
    const { codec, body } = pack(jws)
    const { lastInsertRowid } = insert.run(app_id, sha256, kind, source, codec, body, clock())
    return { id: Number(lastInsertRowid), is_new: true }
  }

  /** The signed text of a row, unchanged; null if the row does not exist. */
  function read(id: number): string | null {
    const row = find.get(id)
    return row ? unpack(row) : null
  }

  /** Compresses a JWS so that `unpack` returns every byte of it. Stores new certificate chains. */
  function pack(jws: string): { codec: number; body: Buffer } {
    const folded = fold(jws, chainId)
    if (folded !== null) {
      return { codec: CODECS.folded, body: deflateRawSync(folded, SETTINGS) }
    }
    return { codec: CODECS.plain, body: deflateRawSync(jws) }
  }

  function unpack(row: { codec: number; body: Buffer }): string {
    if (row.codec === CODECS.plain) return inflateRawSync(row.body).toString()
    return unfold(inflateRawSync(row.body, SETTINGS).toString(), chainHeader)
  }

  function chainId(header: string): number {
    const known = chainIds.get(header)
    if (known !== undefined) return known
    const sha256 = hash('sha256', header, 'buffer')
    const id = chainOf.get(sha256)?.id ?? Number(addChain.run(sha256, header, clock()).lastInsertRowid)
    store.afterCommit(() => cacheChain(header, id))
    return id
  }

  /** Caches the id of a chain. Call it only after the commit, because SQLite reuses the id of a rolled-back row. */
  function cacheChain(header: string, id: number): void {
    if (chainIds.size >= CHAIN_CACHE_SIZE) chainIds.clear()
    chainIds.set(header, id)
  }

  function chainHeader(id: number): string {
    const row = headerOf.get(id)
    if (!row) throw new Error(`certificate chain ${id} is missing`)
    return row.header
  }

  return { save, read, pack, unpack }
}

// JSON text never contains raw control characters, so these three can separate the sections of a JWS.
const OPEN = '\u0001'
const NEXT = '\u0002'
const CLOSE = '\u0003'
const NESTED = /(?<=")eyJ[\w-]+\.[\w-]+\.[\w-]+(?=")/g

/**
 * Folds a JWS to `OPEN chain NEXT signature NEXT payload CLOSE`. The payload is decoded, and each JWS in it is folded,
 * too. Null if the JWS does not have three sections, or if the payload is not UTF-8 or does not encode to the same
 * text.
 */
function fold(jws: string, chainId: (header: string) => number): string | null {
  const [header, payload, signature, extraPart] = jws.split('.')
  if (!header || !payload || !signature || extraPart !== undefined) return null
  const bytes = Buffer.from(payload, 'base64url')
  if (!isUtf8(bytes) || bytes.toString('base64url') !== payload) return null
  const text = bytes.toString()
  if (hasSeparator(text) || !isBase64Url(signature)) return null
  const foldedPayload = text.replace(NESTED, (nested) => fold(nested, chainId) ?? nested)
  return `${OPEN}${chainId(header)}${NEXT}${signature}${NEXT}${foldedPayload}${CLOSE}`
}

const isBase64Url = (part: string): boolean => /^[\w-]*$/.test(part)
const hasSeparator = (text: string): boolean =>
  text.includes(OPEN) || text.includes(NEXT) || text.includes(CLOSE)

function unfold(folded: string, headerOf: (id: number) => string): string {
  const innermost = new RegExp(`${OPEN}(\\d+)${NEXT}([\\w-]*)${NEXT}([^${OPEN}${CLOSE}]*)${CLOSE}`, 'g')
  let text = folded
  while (text.includes(OPEN)) {
    const before = text
    text = text.replace(innermost, (_, chain, signature, payload) =>
      [headerOf(Number(chain)), Buffer.from(payload).toString('base64url'), signature].join('.'),
    )
    if (text === before) return text
  }
  return text
}
