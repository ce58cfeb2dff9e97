/** What may be asked: to come in: who may, with what, and what is written down of it. */
import type { H3Event } from 'h3'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { clientAddress } from '../http/addresses.ts'
import { header } from '../http/body/body.ts'
import type { Log } from '../log.ts'
import type { Store } from '../store/store.ts'
import type { Action, Audit } from './audit.ts'
import { weaknessOf } from './common_passwords.ts'
import type { Owner } from './owner.ts'
import { checkPassword, hashPassword } from './passwords.ts'
import type { Doorway } from './session_cookie.ts'
import type { Session, Sessions } from './sessions.ts'
import type { Throttle } from './throttle.ts'

const LONGEST_AGENT = 200
/** Failures written into the audit log within an hour; all of them are in the log. */
const FAILURES_NOTED = 100
const HOUR_MS = 3_600_000

export type SignIn = ReturnType<typeof openSignIn>

type Deps = {
  store: Store
  clock: Clock
  log: Log
  owner: Owner
  sessions: Sessions
  audit: Audit
  throttle: Throttle
  doorway: Doorway
}

export function openSignIn({ store, clock, log, owner, sessions, audit, throttle, doorway }: Deps) {
  let noted = { hour: 0, failures: 0 }

  /** Writes down that somebody could not come in: one stable line, by which a firewall can act. */
  function noteFailure(event: H3Event, account: string, action: Action, why: string): void {
    const address = clientAddress(event)
    log.warn('auth.failure', { ip: address, account, why })
    const hour = Math.floor(clock() / HOUR_MS)
    noted = { hour, failures: noted.hour === hour ? noted.failures + 1 : 1 }
    if (noted.failures > FAILURES_NOTED) return
    audit.noteAlone({ actor: 'somebody', address, action, subject: account, detail: why })
  }

  /** Whether `check` lets the caller in as `account`: not too often, and each failure is written down. */
  async function attempt(
    event: H3Event,
    { account, action, why }: { account: string; action: Action; why: string },
    check: (is_clean: boolean) => Promise<boolean>,
  ): Promise<boolean> {
    try {
      const isRight = await throttle.attempt(account, clientAddress(event), check)
      if (!isRight) noteFailure(event, account, action, why)
      return isRight
    } catch (error) {
      if (error instanceof Refusal && error.code === 'rate_limited')
        log.warn('auth.failure', { ip: clientAddress(event), account, why: 'too many attempts' })
      throw error
    }
  }

  /** Begins a session and gives its cookie. `also` is done in the same unit of work, and may refuse. */
  async function enter(event: H3Event, link_id: string | null, also: () => void): Promise<Session> {
    const before = doorway.tokenOf(event)
    const session = await store.commit(() => {
      also()
      // The cookie is replaced, and what it stood for must not go on without one.
      const old = before === null ? null : sessions.find(before)
      if (old) sessions.end(old.id)
      return sessions.begin({ link_id, address: clientAddress(event), user_agent: agentOf(event) })
    })
    return given(event, session)
  }

  function given(event: H3Event, { token, ...session }: Session & { token: string }): Session {
    const seconds = (sessions.lastAt(session) - clock()) / 1000
    doorway.give(event, token, seconds)
    return session
  }

  const whoIn = (event: H3Event) => ({ actor: 'owner', address: clientAddress(event) })
  const OWNER = { account: 'owner', action: 'owner.sign_in_failed' } as const

  /** @throws Refusal 400 `weak_password`. */
  function demandStrong(password: string): void {
    const weakness = weaknessOf(password)
    if (weakness === null) return
    const message = `must ${weakness}`
    throw new Refusal(400, 'weak_password', `The password ${message}.`, {
      errors: [{ path: 'password', message }],
    })
  }

  /** @throws Refusal 401 `invalid_link`: it works once, for thirty minutes. */
  async function demandLink(event: H3Event, kind: 'setup' | 'sign_in', token: string): Promise<void> {
    const wrong = { ...OWNER, why: 'wrong link' }
    if (!(await attempt(event, wrong, async () => owner.isLink(kind, token)))) throw overLink()
  }

  /** Chooses the password by the link that was printed, which is used up only if all went well. */
  async function setUp(event: H3Event, token: string, password: string): Promise<Session> {
    await demandLink(event, 'setup', token)
    demandStrong(password)
    const phc = await hashPassword(password)
    return enter(event, null, () => {
      // Somebody else may have been faster.
      if (!owner.isLink('setup', token)) throw overLink()
      owner.setPassword(phc)
      sessions.endOwners(null)
      audit.note({ ...whoIn(event), action: 'owner.set_up' })
    })
  }

  /** @throws Refusal 401 `invalid_link`. */
  async function enterByLink(event: H3Event, token: string): Promise<Session> {
    await demandLink(event, 'sign_in', token)
    return enter(event, null, () => {
      if (!owner.isLink('sign_in', token)) throw overLink()
      owner.useLink()
      audit.note({ ...whoIn(event), action: 'owner.signed_in', detail: 'by a link' })
    })
  }

  /**
   * Gives what was hashed, so that a reset in the meantime does not go unseen.
   *
   * @throws Refusal 401 `wrong_password`, also where there is none yet.
   */
  async function demandPassword(event: H3Event, password: string): Promise<string | null> {
    const wrong = { ...OWNER, why: 'wrong password' }
    let known: string | null = null
    const isRight = await attempt(event, wrong, async (is_clean) => {
      known = owner.password()
      if (known === null) return false
      const { fits, stale } = await checkPassword(password, known, is_clean ? 'first' : 'later')
      if (fits && stale) known = await rehash(password, known)
      return fits
    })
    if (!isRight) throw wrongPassword()
    return known
  }

  async function rehash(password: string, old: string): Promise<string> {
    const phc = await hashPassword(password)
    return store.commit(() => {
      if (owner.password() !== old) return old
      owner.setPassword(phc)
      return phc
    })
  }

  async function enterByPassword(event: H3Event, password: string): Promise<Session> {
    const known = await demandPassword(event, password)
    return enter(event, null, () => {
      if (owner.password() !== known) throw wrongPassword()
      audit.note({ ...whoIn(event), action: 'owner.signed_in' })
    })
  }

  /** The password once more: the session is fresh, by another token. */
  async function confirm(event: H3Event, session: Session, password: string): Promise<Session> {
    await demandPassword(event, password)
    const confirmed = await store.commit(() => {
      audit.note({ ...whoIn(event), action: 'owner.confirmed' })
      return sessions.confirm(session)
    })
    return given(event, confirmed)
  }

  /**
   * Sets another password; requires the current one. Every other session of the owner ends.
   *
   * @throws Refusal 400 `weak_password`, 401 `wrong_password`; 401 `sign_in_required` where the session ended meanwhile.
   */
  async function changePassword(
    event: H3Event,
    session: Session,
    { current_password, password }: { current_password: string; password: string },
  ): Promise<Session> {
    demandStrong(password)
    const known = await demandPassword(event, current_password)
    const phc = await hashPassword(password)
    const renewed = await store.commit(() => {
      if (owner.password() !== known) throw wrongPassword()
      owner.setPassword(phc)
      sessions.endOwners(session.id)
      audit.note({ ...whoIn(event), action: 'owner.password_changed' })
      return sessions.confirm(session)
    })
    return given(event, renewed)
  }

  return { attempt, enter, setUp, enterByLink, enterByPassword, confirm, changePassword }
}

const overLink = (): Refusal =>
  new Refusal(
    401,
    'invalid_link',
    'this link is wrong, used already, or older than thirty minutes; `windfall owner reset` prints another',
  )

const wrongPassword = (): Refusal => new Refusal(401, 'wrong_password', 'this is not the password')

const agentOf = (event: H3Event): string =>
  (header(event, 'user-agent') ?? '').replace(/\p{Cc}/gu, ' ').slice(0, LONGEST_AGENT)
