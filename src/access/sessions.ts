/** Sessions of the owner and of guests. Only hashes of their tokens are stored. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { newId, sha256Of } from '../ids.ts'
import type { Store } from '../store/store.ts'
import type { Revocations } from './revocations.ts'

/** `confirmed_at`: when the password was last entered. `link_id`: the guest's share link; null for the owner. */
export type Session = {
  id: string
  link_id: string | null
  address: string
  user_agent: string
  created_at: number
  seen_at: number
  confirmed_at: number
}
type Row = Session & { hash: Buffer }
/** `confirmed_at` is now by default. */
type NewSession = Pick<Session, 'link_id' | 'address' | 'user_agent'> & { confirmed_at?: number }

/** In days: how long an unused session lasts (`idle_days`), and how long any session lasts (`longest_days`). */
export type SessionSettings = { idle_days: number; longest_days: number }

const DAY_MS = 86_400_000
/** The least time between two writes of `seen_at`. */
const TOUCH_EVERY_MS = 5 * 60_000
/** The most sessions of one share link, or of the owner. A further session ends the least recently used one. */
const MAX_SESSIONS = 200

export type Sessions = ReturnType<typeof openSessions>

type Deps = { store: Store; clock: Clock; settings: SessionSettings; revocations: Revocations }

/** Opens the sessions. */
export function openSessions({ store, clock, settings, revocations }: Deps) {
  const columns = 'id, link_id, address, user_agent, created_at, seen_at, confirmed_at'
  const insert = store.prepare<Row>(`
    insert into sessions ( id,  link_id,  hash,  address,  user_agent,  created_at,  seen_at,  confirmed_at)
    values               (:id, :link_id, :hash, :address, :user_agent, :created_at, :seen_at, :confirmed_at)`)
  const byHash = store.prepare<[Buffer], Session>(`select ${columns} from sessions where hash = ?`)
  const selectOfOwner = store.prepare<[], Session>(
    `select ${columns} from sessions where link_id is null order by seen_at desc, id`,
  )
  const updateSeenAt = store.prepare<[number, string]>('update sessions set seen_at = ? where id = ?')
  const replaceToken = store.prepare<[Buffer, number, string]>(
    'update sessions set hash = ?, confirmed_at = ? where id = ?',
  )
  const remove = store.prepare<[string]>('delete from sessions where id = ?')
  const removeOwners = store.prepare<[string]>('delete from sessions where link_id is null and id <> ?')
  const removeAll = store.prepare<[]>('delete from sessions')
  const removeOfLink = store.prepare<[string]>('delete from sessions where link_id = ?')
  const removeExpired = store.prepare<[number, number]>(
    'delete from sessions where seen_at <= ? or created_at <= ?',
  )
  const removeExcess = store.prepare<[string | null, number]>(`
    delete from sessions where id in
      (select id from sessions where link_id is ? order by seen_at desc limit -1 offset ?)`)

  const newToken = (): string => randomBytes(32).toString('base64url')

  /** When a session expires even if it is used. */
  const absoluteExpiryOf = ({ created_at }: Session): number => created_at + settings.longest_days * DAY_MS
  /** When a session expires if it is not used again. */
  const expiresAt = (session: Session): number =>
    Math.min(session.seen_at + settings.idle_days * DAY_MS, absoluteExpiryOf(session))

  /** Begins a session. `token` is the value of the cookie. Inside a unit of work. */
  function begin(fields: NewSession): Session & { token: string } {
    const now = clock()
    removeExcess.run(fields.link_id, MAX_SESSIONS - 1)
    const token = newToken()
    const session = { confirmed_at: now, ...fields, id: newId('ses'), created_at: now, seen_at: now }
    insert.run({ ...session, hash: sha256Of(token) })
    return { ...session, token }
  }

  /** Deletes expired sessions. Inside a unit of work. */
  function expire(): void {
    const now = clock()
    removeExpired.run(now - settings.idle_days * DAY_MS, now - settings.longest_days * DAY_MS)
  }

  /** The session of a token; null if it does not exist or has expired. */
  function find(token: string): Session | null {
    const session = byHash.get(sha256Of(token))
    return session && expiresAt(session) > clock() ? session : null
  }

  /** Records that a session is in use. */
  function touch({ id, seen_at }: Session): void {
    const now = clock()
    // This write may fail: a full disk must not prevent reads.
    if (now - seen_at > TOUCH_EVERY_MS) store.commit(() => updateSeenAt.run(now, id)).catch(() => {})
  }

  /**
   * Gives a session a new token after its password was entered again. Inside a unit of work.
   *
   * @throws Refusal 401 `sign_in_required` if the session ended during the password check.
   */
  function confirm(session: Session): Session & { token: string } {
    const token = newToken()
    const confirmed_at = clock()
    if (replaceToken.run(sha256Of(token), confirmed_at, session.id).changes === 0)
      throw new Refusal(401, 'sign_in_required', 'the session has ended; sign in again')
    return { ...session, confirmed_at, token }
  }

  /** Runs a statement that deletes sessions, inside a unit of work. Returns how many sessions ended. */
  const endWith = (run: () => { changes: number }): number => {
    store.afterCommit(revocations.notify)
    return run().changes
  }

  return {
    begin,
    expire,
    find,
    touch,
    confirm,
    absoluteExpiryOf,
    expiresAt,
    /** The owner's sessions, the most recently used first. */
    list: (): Session[] => selectOfOwner.all().filter((session) => expiresAt(session) > clock()),
    end: (id: string): number => endWith(() => remove.run(id)),
    /** Ends all of the owner's sessions except the one with the id `exceptId`. */
    endOwners: (exceptId: string | null): number => endWith(() => removeOwners.run(exceptId ?? '')),
    /** Ends all sessions, including those of guests. */
    endAll: (): number => endWith(() => removeAll.run()),
    endOfLink: (link_id: string): number => endWith(() => removeOfLink.run(link_id)),
  }
}
