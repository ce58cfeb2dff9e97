/** What we remember: who is signed in: the owner's sessions, and those of guests with a share link. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { newId, sha256Of } from '../ids.ts'
import type { Store } from '../store/store.ts'
import type { Revocations } from './revocations.ts'

/** `confirmed_at`: when the password was entered last. `link_id`: of a guest; null for the owner. */
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

/** Days: how long a session lasts unused, and at most. */
export type SessionSettings = { idle_days: number; longest_days: number }

const DAY_MS = 86_400_000
/** How often it is written down that a session is in use. */
const TOUCH_EVERY_MS = 5 * 60_000
/** More for one link, or for the owner, end those unused for longest. */
const MAX_SESSIONS = 200

export type Sessions = ReturnType<typeof openSessions>

type Deps = { store: Store; clock: Clock; settings: SessionSettings; revocations: Revocations }

export function openSessions({ store, clock, settings, revocations }: Deps) {
  const columns = 'id, link_id, address, user_agent, created_at, seen_at, confirmed_at'
  const insert = store.prepare<Row>(`
    insert into sessions ( id,  link_id,  hash,  address,  user_agent,  created_at,  seen_at,  confirmed_at)
    values               (:id, :link_id, :hash, :address, :user_agent, :created_at, :seen_at, :confirmed_at)`)
  const byHash = store.prepare<[Buffer], Session>(`select ${columns} from sessions where hash = ?`)
  const ofOwner = store.prepare<[], Session>(
    `select ${columns} from sessions where link_id is null order by seen_at desc, id`,
  )
  const see = store.prepare<[number, string]>('update sessions set seen_at = ? where id = ?')
  const rename = store.prepare<[Buffer, number, string]>(
    'update sessions set hash = ?, confirmed_at = ? where id = ?',
  )
  const remove = store.prepare<[string]>('delete from sessions where id = ?')
  const removeOwners = store.prepare<[string]>('delete from sessions where link_id is null and id <> ?')
  const removeAll = store.prepare<[]>('delete from sessions')
  const removeLinks = store.prepare<[string]>('delete from sessions where link_id = ?')
  const removeOver = store.prepare<[number, number]>(
    'delete from sessions where seen_at <= ? or created_at <= ?',
  )
  const removeMany = store.prepare<[string | null, number]>(`
    delete from sessions where id in
      (select id from sessions where link_id is ? order by seen_at desc limit -1 offset ?)`)

  const newToken = (): string => randomBytes(32).toString('base64url')

  /** When a session is over in any case. */
  const absoluteExpiryOf = ({ created_at }: Session): number => created_at + settings.longest_days * DAY_MS
  /** When it is over that is not used any more. */
  const expiresAt = (session: Session): number =>
    Math.min(session.seen_at + settings.idle_days * DAY_MS, absoluteExpiryOf(session))

  /** Begins one; its token is what the cookie holds. Inside a unit of work. */
  function begin(of: Pick<Session, 'link_id' | 'address' | 'user_agent'>): Session & { token: string } {
    const now = clock()
    removeMany.run(of.link_id, MAX_SESSIONS - 1)
    const token = newToken()
    const session = { ...of, id: newId('ses'), created_at: now, seen_at: now, confirmed_at: now }
    insert.run({ ...session, hash: sha256Of(token) })
    return { ...session, token }
  }

  /** Deletes the sessions that are over. Inside a unit of work. */
  function expire(): void {
    const now = clock()
    removeOver.run(now - settings.idle_days * DAY_MS, now - settings.longest_days * DAY_MS)
  }

  /** The session of a token; null where there is none, or it is over. */
  function find(token: string): Session | null {
    const session = byHash.get(sha256Of(token))
    return session && expiresAt(session) > clock() ? session : null
  }

  /** It is in use. */
  function touch({ id, seen_at }: Session): void {
    const now = clock()
    // A full disk must not stop anybody from reading, so this one write may fail.
    if (now - seen_at > TOUCH_EVERY_MS) store.commit(() => see.run(now, id)).catch(() => {})
  }

  /**
   * The same session by a new token, now that its password was entered again. Inside a unit of work.
   *
   * @throws Refusal 401 `sign_in_required` where it has ended meanwhile: a password takes its time to check.
   */
  function confirm(session: Session): Session & { token: string } {
    const token = newToken()
    const confirmed_at = clock()
    if (rename.run(sha256Of(token), confirmed_at, session.id).changes === 0)
      throw new Refusal(401, 'sign_in_required', 'you were signed out meanwhile')
    return { ...session, confirmed_at, token }
  }

  /** Inside a unit of work, as all that end some. How many it ended. */
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
    /** The owner's, the one used last first. */
    list: (): Session[] => ofOwner.all().filter((session) => expiresAt(session) > clock()),
    end: (id: string): number => endWith(() => remove.run(id)),
    /** All of the owner's, but for one. */
    endOwners: (but: string | null): number => endWith(() => removeOwners.run(but ?? '')),
    /** The guests’, too. */
    endAll: (): number => endWith(() => removeAll.run()),
    endOfLink: (link_id: string): number => endWith(() => removeLinks.run(link_id)),
  }
}
