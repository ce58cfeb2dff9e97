/** Verifies the signature of each text in Apple's histories, and applies the new texts. */
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
import { type AppEnvironment, labelsOf } from './app_environment.ts'

/** The number of refused texts to remember. Windows overlap, so Apple returns a text again; it is logged only once. */
const MAX_LOGGED = 1_000

/** `refused` stores refused texts, for diagnosis. */
export type IntakeDeps = {
  store: Store
  verifier: Verifier
  log: Log
  refused: Pick<ReturnType<typeof openRefused>, 'save'>
}

/** The verified facts from the new texts of a page, and the number of refused texts. */
type VerifiedFacts<Fact> = { facts: Fact[]; refused: number }

export type Intake = ReturnType<typeof openIntake>

export function openIntake({ store, verifier, log, refused }: IntakeDeps) {
  const known = store.prepare<[string, Buffer], { id: number }>(
    'select id from signed_payloads where app_id = ? and sha256 = ?',
  )
  const loggedKeys = new Set<string>()

  /** Whether the ledger already contains the same payload. */
  const isKnown = ({ app }: AppEnvironment, jws: string): boolean =>
    known.get(app.id, hash('sha256', jws.split('.', 2)[1] ?? '', 'buffer')) !== undefined

  const notifications = (
    appEnvironment: AppEnvironment,
    payloads: readonly string[],
  ): Promise<VerifiedFacts<Verified<Notification>>> =>
    verifyAll(appEnvironment, payloads, async (jws) =>
      requireMatch(appEnvironment, await verifyNotification(verifier, jws)),
    )

  const transactions = (
    appEnvironment: AppEnvironment,
    payloads: readonly string[],
  ): Promise<VerifiedFacts<Verified<Transaction>>> =>
    verifyAll(appEnvironment, payloads, async (jws) =>
      requireMatch(appEnvironment, await verifyTransaction(verifier, jws)),
    )

  /** Verifies subscription statuses. Apple signs them for each request, so their texts are always new. */
  async function statuses(
    appEnvironment: AppEnvironment,
    items: readonly StatusItem[],
  ): Promise<VerifiedFacts<SubscriptionFacts>> {
    const { bundle_id, environment } = labelsOf(appEnvironment)
    const results = await Promise.all(
      items.map((item) => {
        const expected = { bundle_id, environment, original_transaction_id: item.original_transaction_id }
        return verifyOrRefuse(appEnvironment, item.transaction, () =>
          verifySubscription(verifier, item, expected),
        )
      }),
    )
    return withRefusedCount(results)
  }

  async function verifyAll<Fact>(
    appEnvironment: AppEnvironment,
    payloads: readonly string[],
    verify: (jws: string) => Promise<Fact>,
  ): Promise<VerifiedFacts<Fact>> {
    const newPayloads = payloads.filter((jws) => !isKnown(appEnvironment, jws))
    return withRefusedCount(
      await Promise.all(newPayloads.map((jws) => verifyOrRefuse(appEnvironment, jws, () => verify(jws)))),
    )
  }

  async function verifyOrRefuse<Fact>(
    appEnvironment: AppEnvironment,
    jws: string,
    verify: () => Promise<Fact>,
  ): Promise<Fact | null> {
    try {
      return await verify()
    } catch (error) {
      const fault = refusalIn(error)
      if (fault === null) throw error
      await reportRefused(appEnvironment, fault, jws)
      return null
    }
  }

  async function reportRefused(
    appEnvironment: AppEnvironment,
    { code, message }: SignatureError | Refusal,
    jws: string,
  ): Promise<void> {
    const logKey = `${appEnvironment.app.id} ${hash('sha256', jws, 'hex')}`
    if (loggedKeys.has(logKey)) return
    if (loggedKeys.size >= MAX_LOGGED) loggedKeys.clear()
    loggedKeys.add(logKey)
    log.warn('an entry of Apple’s history was refused', {
      ...labelsOf(appEnvironment),
      code,
      reason: message,
    })
    await refused.save(code, message, jws, null)
  }

  /**
   * Applies facts as bulk work, each in a separate unit of work. Then calls `onApplied`, which stores the position to
   * resume from, in the transaction of the last fact or in the next transaction.
   *
   * @throws the error of `apply`; no later fact is applied then, and the position is not stored.
   */
  async function applyAll<Fact>(
    facts: readonly Fact[],
    apply: (fact: Fact) => void,
    onApplied?: () => void,
  ): Promise<void> {
    const bulk = openBulk(store)
    for (const fact of facts) await bulk.add(() => apply(fact))
    if (onApplied) await bulk.add(onApplied)
    await bulk.finish()
  }

  return { notifications, transactions, statuses, applyAll }
}

function withRefusedCount<Fact>(results: readonly (Fact | null)[]): VerifiedFacts<Fact> {
  const facts = results.filter((fact) => fact !== null)
  return { facts, refused: results.length - facts.length }
}

/** The error as a reason to refuse the text; null if the text did not cause the error. */
function refusalIn(error: unknown): SignatureError | Refusal | null {
  if (error instanceof SignatureError) return error
  return error instanceof Refusal && error.code === 'not_a_notification' ? error : null
}

type AppPayload = { bundle_id: string; environment: Environment; apple_id?: number | null }

/** Returns `verified`. @throws SignatureError `mismatch` if it belongs to another app or environment */
function requireMatch<Fact extends AppPayload>(
  { app, environment }: AppEnvironment,
  verified: Verified<Fact>,
): Verified<Fact> {
  const payload = verified.payload
  if (payload.bundle_id !== app.bundle_id) throw mismatch(payload.bundle_id, app.bundle_id)
  if (payload.environment !== environment) throw mismatch(payload.environment, environment)
  const apple_id = environment === 'production' ? (payload.apple_id ?? null) : null
  if (apple_id !== null && app.apple_id !== null && apple_id !== app.apple_id)
    throw mismatch(`Apple id ${apple_id}`, `Apple id ${app.apple_id}`)
  return verified
}

const mismatch = (found: string, expected: string): SignatureError =>
  new SignatureError('mismatch', `signed by Apple for ${found}, but found in the history of ${expected}`)
