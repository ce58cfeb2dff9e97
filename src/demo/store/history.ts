/**
 * The simulated transaction history and statuses of one customer. Apple signs transactions again for each request.
 * Here, a transaction is signed once for each change, at the time of the change, so the same state always has the
 * same text.
 */
import type { Environment } from '../../apple/payloads.ts'
import type { Clock } from '../../clock.ts'
import type { Sign } from '../signing/signatures.ts'
import type { HeldTransaction, Holdings } from '../world/holdings.ts'
import type { Person } from '../world/people.ts'
import { currentSale } from '../world/subscription.ts'
import type { TransactionBody } from '../world/unsigned.ts'
import type { Answer, StoreRequest } from './listener.ts'
import { serverRefusal } from './refusals.ts'

const PAGE_SIZE = 20

/** A transaction in its current revision, which began at `at`. */
type HistoryItem = { at: number; body: TransactionBody; held: HeldTransaction }

const TYPE_BY_QUERY: Record<string, string> = {
  AUTO_RENEWABLE: 'Auto-Renewable Subscription',
  NON_CONSUMABLE: 'Non-Consumable',
  CONSUMABLE: 'Consumable',
  NON_RENEWABLE: 'Non-Renewing Subscription',
}

function includesValue(values: readonly string[], value: string | undefined): boolean {
  return values.length === 0 || (value !== undefined && values.includes(value))
}

function matchesQuery({ body }: HistoryItem, query: URLSearchParams): boolean {
  const types = query.getAll('productType').map((name) => TYPE_BY_QUERY[name] ?? name)
  const revoked = query.get('revoked')
  return (
    includesValue(query.getAll('productId'), body.productId) &&
    includesValue(types, body.type) &&
    includesValue(query.getAll('subscriptionGroupIdentifier'), body.subscriptionGroupIdentifier) &&
    includesValue(query.getAll('inAppOwnershipType'), body.inAppOwnershipType) &&
    (revoked === null || (revoked === 'true') === (body.revocationDate !== undefined)) &&
    body.purchaseDate >= Number(query.get('startDate') ?? -Infinity) &&
    body.purchaseDate < Number(query.get('endDate') ?? Infinity)
  )
}

/** A position in the list of transactions by last modification. Apple's `revision` parameter encodes it. */
type Cursor = { at: number; id: string }

function cursorOf({ at, body }: HistoryItem): Cursor {
  return { at, id: body.transactionId }
}

function isAfter(one: Cursor, other: Cursor): boolean {
  return one.at > other.at || (one.at === other.at && one.id > other.id)
}

function revisionOf({ at, id }: Cursor): string {
  return Buffer.from(`${at}_${id}`).toString('base64url')
}

function decodeCursor(revision: string): Cursor | null {
  const [, at, id = ''] = /^(\d+)_(\d*)$/.exec(Buffer.from(revision, 'base64url').toString()) ?? []
  return at === undefined ? null : { at: Number(at), id }
}

const transactionNotFound = () => serverRefusal(4_040_010, 'Transaction id not found.')
const invalidTransactionId = () => serverRefusal(4_000_006, 'Invalid transaction id.')
const isId = (id: string) => /^\d{1,20}$/.test(id)

/** The order id that the simulated store prints on the receipt of a transaction. */
export const orderIdOf = (transaction_id: string): string =>
  `M${BigInt(transaction_id).toString(36).toUpperCase().padStart(9, '0')}`

/** The order id that the dashboard gives as an example. Each app has it: the order of its first customer. */
export const EXAMPLE_ORDER = 'MQK4N2B7XW'

/** The transaction id of an order id; '0' if the text is none. */
export const transactionIdIn = (order_id: string): string =>
  [...(/^M([0-9A-Z]+)$/.exec(order_id)?.[1] ?? '')]
    .reduce((sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)), 0n)
    .toString()

type HistoriesOptions = { holdings: Pick<Holdings, 'find' | 'of' | 'people'>; sign: Sign; clock: Clock }

export function openHistories({ holdings, sign, clock }: HistoriesOptions) {
  /** The current revision of each of a customer's transactions, least recently changed first. */
  function itemsOf(person: Person): HistoryItem[] {
    const now = clock()
    const items = holdings.of(person).flatMap((held): HistoryItem[] => {
      const version = held.versions.findLast(({ at }) => at <= now)
      return version === undefined ? [] : [{ ...version, held }]
    })
    return items.sort((a, b) => (isAfter(cursorOf(a), cursorOf(b)) ? 1 : -1))
  }

  function personOf(bundle_id: string, environment: Environment, id: string): Person | null {
    const person = holdings.find(environment, id)
    return person !== null && person.app.bundle_id === bundle_id && itemsOf(person).length > 0 ? person : null
  }

  function appFieldsOf({ app, environment }: Person) {
    const name = environment === 'production' ? 'Production' : 'Sandbox'
    const apple = environment === 'production' ? { appAppleId: app.apple_id } : {}
    return { bundleId: app.bundle_id, ...apple, environment: name }
  }

  /** GET /inApps/v2/history/{anyTransactionId}. */
  function history(request: StoreRequest, bundle_id: string, environment: Environment, id: string): Answer {
    if (!isId(id)) return invalidTransactionId()
    const person = personOf(bundle_id, environment, id)
    if (person === null) return transactionNotFound()
    const revision = request.query.get('revision')
    const cursor = revision === null ? { at: 0, id: '' } : decodeCursor(revision)
    if (cursor === null) return serverRefusal(4_000_005, 'Invalid request revision.')
    const descending = request.query.get('sort') === 'DESCENDING'
    const selected = itemsOf(person).filter((item) => matchesQuery(item, request.query))
    const remaining = descending
      ? selected.reverse().filter((item) => revision === null || isAfter(cursor, cursorOf(item)))
      : selected.filter((item) => isAfter(cursorOf(item), cursor))
    const page = remaining.slice(0, PAGE_SIZE)
    const last = page.at(-1)
    return {
      status: 200,
      json: {
        revision: revisionOf(last === undefined ? cursor : cursorOf(last)),
        hasMore: remaining.length > PAGE_SIZE,
        ...appFieldsOf(person),
        signedTransactions: page.map(({ body }) => sign(body)),
      },
    }
  }

  /** GET /inApps/v1/transactions/{transactionId}. */
  function transaction(bundle_id: string, environment: Environment, id: string): Answer {
    if (!isId(id)) return invalidTransactionId()
    const person = personOf(bundle_id, environment, id)
    const item = person && itemsOf(person).find(({ body }) => body.transactionId === id)
    if (!item) return transactionNotFound()
    return { status: 200, json: { signedTransactionInfo: sign(item.body) } }
  }

  function lastTransactionsOf(person: Person) {
    return itemsOf(person).flatMap(({ held: { sub }, body }) => {
      if (!sub?.last_notified || currentSale(sub).transactionId !== body.transactionId) return []
      const { status, renewal } = sub.last_notified
      return [
        {
          group: sub.plan.group,
          last: {
            status,
            originalTransactionId: sub.original_id,
            signedTransactionInfo: sign(body),
            signedRenewalInfo: sign(renewal),
          },
        },
      ]
    })
  }

  /** GET /inApps/v1/subscriptions/{anyTransactionId}: the current status of each subscription. */
  function statuses(request: StoreRequest, bundle_id: string, environment: Environment, id: string): Answer {
    if (!isId(id)) return invalidTransactionId()
    const person = personOf(bundle_id, environment, id)
    if (person === null) return transactionNotFound()
    const selected = request.query.getAll('status')
    const last = lastTransactionsOf(person).filter(({ last }) => includesValue(selected, String(last.status)))
    const groups = Map.groupBy(last, ({ group }) => group)
    const data = [...groups].map(([subscriptionGroupIdentifier, list]) => ({
      subscriptionGroupIdentifier,
      lastTransactions: list.map(({ last }) => last),
    }))
    return { status: 200, json: { ...appFieldsOf(person), data } }
  }

  return { history, transaction, statuses, people: holdings.people, of: holdings.of }
}
