/** The owner's passkeys: adding, and checking one that signs in. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { openInstanceKey } from '../../store/instance_key.ts'
import type { Store } from '../../store/store.ts'
import type { Session } from '../sessions.ts'
import { type Challenges, openChallenges } from './challenges.ts'
import { creationOptions, requestOptions } from './options.ts'
import { openPasskeyRows, type Passkey, type PasskeyRows } from './passkey_rows.ts'
import { type RelyingParty, relyingPartyOf } from './relying_party.ts'
import type { CreatedPasskey, UsedPasskey } from './verification.ts'

/** A passkey that is right. `use` runs inside a unit of work; false if it was removed or used meanwhile. */
export type RightPasskey = { id: string; use: () => boolean }

const SIGN_IN = 'sign in'
const addingOf = ({ id }: Pick<Session, 'id'>): string => `add ${id}`

export type Passkeys = ReturnType<typeof openPasskeys>

type Deps = { store: Store; clock: Clock; monotonic: Clock; base_url: () => string | undefined }
type Parts = { store: Store; rows: PasskeyRows; challenges: Challenges; requireParty: () => RelyingParty }

/** Opens the passkeys. `monotonic` never jumps. */
export function openPasskeys({ store, clock, monotonic, base_url }: Deps) {
  const rows = openPasskeyRows(store, clock)
  const challenges = openChallenges(monotonic)
  const party = (): RelyingParty => relyingPartyOf(base_url() ?? 'http://127.0.0.1')

  /** @throws Refusal 409 `passkeys_unavailable`. */
  function requireParty(): RelyingParty {
    const found = party()
    if (found.problem !== null) throw new Refusal(409, 'passkeys_unavailable', found.problem)
    return found
  }

  /** The host at which a passkey can sign in; null without one. */
  function signInHost(): string | null {
    const { host, problem } = party()
    return problem === null && rows.hasAt(host) ? host : null
  }

  const parts = { store, rows, challenges, requireParty }
  return {
    party,
    signInHost,
    list: rows.list,
    remove: rows.remove,
    removeAll: rows.removeAll,
    ...openAdding(parts),
    ...openUsing(parts),
  }
}

function openAdding({ store, rows, challenges, requireParty }: Parts) {
  // Authenticators keep one passkey for each host and user. Random, because several servers may share localhost.
  const user = openInstanceKey(store, 'passkey_user')

  /** The options with which a browser creates a passkey. @throws Refusal 409 `passkeys_unavailable`, `too_many_passkeys`. */
  async function begin(session: Session) {
    const { host } = requireParty()
    rows.requireRoom()
    const known = rows.credentialsAt(host)
    const challenge = challenges.issue(addingOf(session))
    return creationOptions({ challenge, host, known, user: user.get() ?? (await store.commit(user.make)) })
  }

  /**
   * Checks a passkey that a browser created. The returned function stores it, inside a unit of work.
   *
   * @throws Refusal 409 `passkeys_unavailable`, 400 `invalid_passkey`; the function also 409 `too_many_passkeys`.
   */
  async function checkNew(session: Session, response: CreatedPasskey, name: string): Promise<() => Passkey> {
    const { host, origin } = requireParty()
    const useChallenge = (challenge: string) => challenges.use(challenge, addingOf(session))
    const { verifyCreated } = await import('./verification.ts')
    const created = await verifyCreated(response, { host, origin, useChallenge }).catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error)
      throw new Refusal(400, 'invalid_passkey', `the passkey cannot be added: ${why}`)
    })
    return () => rows.add(created, { host, name })
  }

  return { begin, checkNew }
}

function openUsing({ rows, challenges, requireParty }: Parts) {
  /** The options with which a browser uses a passkey. @throws Refusal 409 `passkeys_unavailable`. */
  const beginSignIn = () => requestOptions(challenges.issue(SIGN_IN), requireParty().host)

  /** The passkey of an answer, if it is right; otherwise null. @throws Refusal 409 `passkeys_unavailable`. */
  async function check(response: UsedPasskey): Promise<RightPasskey | null> {
    const { host, origin } = requireParty()
    const stored = rows.find(response.id)
    if (stored === null) return null
    const useChallenge = (challenge: string) => challenges.use(challenge, SIGN_IN)
    // A start does not need the library, so it is loaded on first use.
    const { verifyUsed } = await import('./verification.ts')
    const counter = await verifyUsed(response, stored, { host, origin, useChallenge }).catch(() => null)
    if (counter === null) return null
    return { id: stored.id, use: () => rows.use(stored.id, counter) }
  }

  return { beginSignIn, check }
}
