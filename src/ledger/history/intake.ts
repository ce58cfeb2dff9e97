/** What we remember: what Apple's histories hold, each text proved by itself, since it is no truer for where it came from. */
import { hash } from 'node:crypto'
import type { StatusItem } from '../../apple/api/server.ts'
import { SignatureError, type Verified, type Verifier } from '../../apple/jws/signed.ts'
import { type Notification, verifyNotification, verifyTransaction } from '../../apple/notification.ts'
import type { Environment, Transaction } from '../../apple/payloads.ts'
import { type SubscriptionFacts, verifySubscription } from '../../apple/subscription.ts'
import { Refusal } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { openBulk } from '../../store/bulk.ts'
import type { Store } from '../../store/store.ts'
import type { openRefused } from '../refused.ts'
import { named, type Realm } from './app_environment.ts'

/** Windows overlap, and a text that is refused comes again with each: it is told once, while so many are remembered. */
const TOLD = 1_000

/** `refused` keeps the text of what is refused, for diagnosis. */
export type IntakeDeps = {
  store: Store
  verifier: Verifier
  log: Log
  refused: Pick<ReturnType<typeof openRefused>, 'keep'>
}

/** What of a page is proved and was not known by its very text; and how many texts were refused. */
type Proved<Fact> = { facts: Fact[]; refused: number }

export type Intake = ReturnType<typeof openIntake>

export function openIntake({ store, verifier, log, refused }: IntakeDeps) {
  const known = store.prepare<[string, Buffer], { id: number }>(
    'select id from signed_payloads where app_id = ? and sha256 = ?',
  )
  const told = new Set<string>()

  /** The same payload was proved before, and stands in the ledger with all that it says. */
  const isKnown = ({ app }: Realm, jws: string): boolean =>
    known.get(app.id, hash('sha256', jws.split('.', 2)[1] ?? '', 'buffer')) !== undefined

  const notifications = (
    realm: Realm,
    payloads: readonly string[],
  ): Promise<Proved<Verified<Notification>>> =>
    proveAll(realm, payloads, async (jws) => ofRealm(realm, await verifyNotification(verifier, jws)))

  const transactions = (realm: Realm, payloads: readonly string[]): Promise<Proved<Verified<Transaction>>> =>
    proveAll(realm, payloads, async (jws) => ofRealm(realm, await verifyTransaction(verifier, jws)))

  /** Apple signs an entry anew whenever it is asked for: nothing of it can be known. */
  async function statuses(realm: Realm, items: readonly StatusItem[]): Promise<Proved<SubscriptionFacts>> {
    const { bundle_id, environment } = named(realm)
    const proved = await Promise.all(
      items.map((item) => {
        const expected = { bundle_id, environment, original_transaction_id: item.original_transaction_id }
        return orRefused(realm, item.transaction, () => verifySubscription(verifier, item, expected))
      }),
    )
    return gathered(proved)
  }

  async function proveAll<Fact>(
    realm: Realm,
    payloads: readonly string[],
    prove: (jws: string) => Promise<Fact>,
  ): Promise<Proved<Fact>> {
    const unknown = payloads.filter((jws) => !isKnown(realm, jws))
    return gathered(await Promise.all(unknown.map((jws) => orRefused(realm, jws, () => prove(jws)))))
  }

  async function orRefused<Fact>(
    realm: Realm,
    jws: string,
    prove: () => Promise<Fact>,
  ): Promise<Fact | null> {
    try {
      return await prove()
    } catch (error) {
      const fault = faultOf(error)
      if (fault === null) throw error
      await tell(realm, fault, jws)
      return null
    }
  }

  async function tell(realm: Realm, { code, message }: SignatureError | Refusal, jws: string): Promise<void> {
    const name = `${realm.app.id} ${hash('sha256', jws, 'hex')}`
    if (told.has(name)) return
    if (told.size >= TOLD) told.clear()
    told.add(name)
    log.warn('Apple’s history holds something that is refused', { ...named(realm), code, reason: message })
    await refused.keep(code, message, jws, null)
  }

  /**
   * Applies facts, a unit of work each, as bulk work; then `remember`, which writes down how far the reading came, in the
   * commit that holds the last of them or in the next one.
   *
   * @throws what `apply` threw; nothing after that fact is applied, and nothing is written down.
   */
  async function applyAll<Fact>(
    facts: readonly Fact[],
    apply: (fact: Fact) => void,
    remember?: () => void,
  ): Promise<void> {
    const bulk = openBulk(store)
    for (const fact of facts) await bulk.add(() => apply(fact))
    if (remember) await bulk.add(remember)
    await bulk.finish()
  }

  return { notifications, transactions, statuses, applyAll }
}

function gathered<Fact>(proved: readonly (Fact | null)[]): Proved<Fact> {
  const facts = proved.filter((fact) => fact !== null)
  return { facts, refused: proved.length - facts.length }
}

/** Why a text is not believed; null where that is not the text's fault. */
function faultOf(error: unknown): SignatureError | Refusal | null {
  if (error instanceof SignatureError) return error
  return error instanceof Refusal && error.code === 'not_a_notification' ? error : null
}

type Placed = { bundle_id: string; environment: Environment; apple_id?: number | null }

/** What the history of one app in one environment holds has to be of that app and environment. */
function ofRealm<Fact extends Placed>({ app, environment }: Realm, verified: Verified<Fact>): Verified<Fact> {
  const said = verified.payload
  if (said.bundle_id !== app.bundle_id) throw foreign(said.bundle_id, app.bundle_id)
  if (said.environment !== environment) throw foreign(said.environment, environment)
  const apple_id = environment === 'production' ? (said.apple_id ?? null) : null
  if (apple_id !== null && app.apple_id !== null && apple_id !== app.apple_id)
    throw foreign(`Apple id ${apple_id}`, `Apple id ${app.apple_id}`)
  return verified
}

const foreign = (found: string, expected: string): SignatureError =>
  new SignatureError('mismatch', `signed by Apple, but of ${found}, in the history of ${expected}`)
