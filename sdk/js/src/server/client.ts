/** The client of Windfall’s API for backends. */
import type { Access, Attributed, Identified, ImportOutcome } from './answer_types.ts'
import { WindfallError } from './errors.ts'
import { type EventsReader, openEvents, type ReadEvents } from './events.ts'
import { type AttributeValue, importAll, type LinkImport, type LinksImported } from './links.ts'
import { type Call, openRequests, type RequestOptions } from './requests.ts'

export interface ClientOptions extends RequestOptions {
  /** `sk_live_…`: for `identify`, `attribute`, `importLinks` and `access`. */
  secretKey?: string | undefined
  /** `wf_…`: for `readEvents` and `access`. */
  readToken?: string | undefined
}

/** A user of an app. */
export interface Identify {
  appUserId: string
  /** The bundle id; the application id when `platform` is `android`. */
  bundleId: string
  platform?: string | null | undefined
  osVersion?: string | null | undefined
  deviceModel?: string | null | undefined
  locale?: string | null | undefined
  /** Each key replaces the value of that key, null included; other keys stay. */
  attributes?: Readonly<Record<string, AttributeValue>> | null | undefined
}

/** A purchase and the user it belongs to. */
export interface Attribute {
  appUserId: string
  bundleId: string
  /** Apple’s original transaction id; with `platform: 'android'` the Play purchase token. */
  originalTransactionId: string
  productId?: string | null | undefined
  platform?: string | null | undefined
  /** The signed transaction of StoreKit, which proves the purchase. */
  jws?: string | null | undefined
}

export interface AccessOptions {
  /** A bundle id or an app id; needed if the credential reads several apps. */
  app?: string | undefined
  /** `production` by default. */
  environment?: 'production' | 'sandbox' | undefined
}

/** A client of one Windfall. Its calls throw `WindfallError`. */
export interface Client {
  /** Creates or updates a user, with the proof `server`. */
  identify(user: Identify): Promise<Identified>
  /** Links a purchase to a user, or moves it from another one, with the proof `server`. */
  attribute(purchase: Attribute): Promise<Attributed>
  /** Imports which purchase belongs to which user. Repeating an import changes nothing. */
  importLinks(source: LinkImport): Promise<LinksImported>
  /** Reads the feed after a seq, oldest first, up to its end. */
  readEvents(options: ReadEvents): EventsReader
  /** What a user has access to now. */
  access(appUserId: string, options?: AccessOptions): Promise<Access>
}

/** Creates a client. @throws WindfallError `invalid_options` */
export function createClient(options: ClientOptions): Client {
  const { send } = openRequests(options)
  const secretKey = credentialOf(options.secretKey, 'secretKey', 'sk_')
  const readToken = credentialOf(options.readToken, 'readToken', 'wf_')
  const post = <Answer>(path: string, body: object, field: string): Promise<Answer> =>
    send({ method: 'POST', path, credential: needed(secretKey, 'a secretKey'), body, field })
  const sendRows = (links: readonly object[], dry_run: boolean): Promise<ImportOutcome> =>
    post('/api/v1/links/import', { dry_run, links }, 'faults')

  return {
    identify: async (user) => post('/api/sdk/v1/identify', identityIn(user), 'appUserId'),
    attribute: async (purchase) =>
      post('/api/sdk/v1/attribute', purchaseIn(purchase), 'originalTransactionId'),
    importLinks: (source) => importAll(source, sendRows),
    readEvents: (reading) =>
      openEvents(reading, (query) =>
        send({
          ...get('/api/v1/events', query),
          credential: needed(readToken, 'a readToken'),
          field: 'next',
        }),
      ),
    async access(appUserId, { app, environment } = {}) {
      const credential = needed(secretKey ?? readToken, 'a secretKey or a readToken')
      return send({
        ...get(`/api/v1/users/${segment(appUserId)}/access`, { app, environment }),
        credential,
        field: 'products',
      })
    },
  }
}

/** Only the fields of a call, because an object of the backend can have others that are private. */
function identityIn(user: Identify): Identify {
  const { appUserId, bundleId, platform, osVersion, deviceModel, locale, attributes } = user
  return { appUserId, bundleId, platform, osVersion, deviceModel, locale, attributes }
}

/** The same for a purchase. */
function purchaseIn(purchase: Attribute): Attribute {
  const { appUserId, bundleId, originalTransactionId, productId, platform, jws } = purchase
  return { appUserId, bundleId, originalTransactionId, productId, platform, jws }
}

/** @throws WindfallError `invalid_options`, without the credential, which may be secret */
function credentialOf(value: string | undefined, name: string, prefix: string): string | undefined {
  if (
    value === undefined ||
    (typeof value === 'string' && value.startsWith(prefix) && /^[\w-]+$/.test(value))
  )
    return value
  throw new WindfallError('invalid_options', `${name} must begin with ${prefix} and have no white space`)
}

/** @throws WindfallError `invalid_options` */
function needed(credential: string | undefined, name: string): string {
  if (credential !== undefined) return credential
  throw new WindfallError('invalid_options', `this call needs ${name}: pass it to createClient`)
}

function get(
  path: string,
  query: Readonly<Record<string, string | undefined>>,
): Pick<Call, 'method' | 'path'> {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return { method: 'GET', path: pairs.length === 0 ? path : `${path}?${pairs.join('&')}` }
}

/** A user id in a path. URLs cannot contain `.` and `..`. @throws WindfallError `invalid_argument` */
function segment(appUserId: string): string {
  try {
    if (!/^\.{0,2}$/.test(appUserId)) return encodeURIComponent(appUserId)
  } catch {
    // Half of a surrogate pair cannot be encoded.
  }
  throw new WindfallError('invalid_argument', 'appUserId cannot be empty, a dot, two dots or broken Unicode')
}
