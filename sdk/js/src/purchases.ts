/** Reads purchases: ours, and the objects of purchase libraries in every version's field names. */
import { isText } from './ids.ts'

/** What the queue keeps of a purchase. `x` tells transactions of one purchase apart. */
export type ReadPurchase = { o: string; p?: string; j?: string; f?: string; x: string }

const JWS = /^[\w-]+\.([\w-]+)\.[\w-]+$/
/** Decodes base64url; what is looked for in it is ASCII. Runtimes without `atob` take any text of that form. */
function decoded(text: string): string {
  try {
    return atob(text.replace(/-/g, '+').replace(/_/g, '/'))
  } catch {
    return typeof atob === 'undefined' && text ? '"transactionId":""' : ''
  }
}

const field = (json: string, name: string): string | undefined =>
  new RegExp(`"${name}"\\s*:\\s*"?([\\w.-]+)`).exec(json)?.[1]

const idOf = (value: unknown): string | undefined => {
  const text = typeof value === 'number' ? String(value) : value
  return isText(text, 2048) ? text : undefined
}
const first = (values: unknown[]): string | undefined => values.map(idOf).filter(Boolean)[0]

/** The payload of a signed transaction; empty for any other text, such as a token or a receipt. */
function payloadOf(text: unknown): string {
  const payload = decoded((typeof text === 'string' && JWS.exec(text)?.[1]) || '')
  return payload.indexOf('"transactionId"') < 0 ? '' : payload
}

/**
 * Null if nothing in it identifies a purchase. A signed transaction is found below any name: libraries and their versions
 * have six for it. `device` is the platform of the device.
 */
export function readPurchase(given: unknown, device: string | undefined): ReadPurchase | null {
  const from = (given ?? {}) as Record<string, unknown>
  const jws = Object.keys(from)
    .map((name) => from[name])
    .filter(payloadOf)[0] as string | undefined
  const payload = payloadOf(jws)
  const stated = String(from.platform ?? device).toLowerCase()
  // On iOS libraries put the signed transaction, or only its id, where Android has the token.
  const token = jws || stated === 'ios' ? null : first([from.purchaseToken, from.purchaseTokenAndroid])
  const platform = jws ? 'ios' : token ? 'android' : stated
  const o = first([
    from.originalTransactionId,
    field(payload, 'originalTransactionId'),
    token,
    from.originalTransactionIdentifierIOS,
    platform === 'ios' && from.transactionId,
  ])
  if (!o) return null
  const p = first([from.productId, field(payload, 'productId')])
  return {
    o,
    ...(isText(p, 255) && { p }),
    ...(jws && { j: jws }),
    ...(/^(ios|android)$/.test(platform) && { f: platform }),
    x: (field(payload, 'transactionId') ?? first([from.transactionId])) + (jws ? '+' : ''),
  }
}

type Heard = Record<string, unknown> | null
type Listen = (heard: (purchase: Heard) => void, failed: () => void) => unknown

/** Listens to purchase libraries. Those that throw, because the app has not opened its store, stay in `libraries`. */
export function hookInto(libraries: (() => unknown)[], report: (purchase: unknown) => void): void {
  for (const load of libraries.splice(0)) {
    try {
      const listen = (load() as { purchaseUpdatedListener?: Listen } | null)?.purchaseUpdatedListener
      // Versions 12 and 13 throw later without a second argument; newer ones find no options in it.
      listen?.(
        (purchase) => {
          // What is not paid yet comes again.
          if (purchase?.purchaseState !== 'pending' && purchase?.purchaseStateAndroid !== 2) report(purchase)
        },
        () => {},
      )
    } catch {
      libraries.push(load)
    }
  }
}
