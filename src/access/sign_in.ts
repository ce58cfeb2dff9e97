/** Sign-in by password, with a second factor if one is on, or by a one-time link. */
import type { H3Event } from 'h3'
import type { Clock } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { clientAddress } from '../http/addresses.ts'
import { header } from '../http/body/body.ts'
import type { Store } from '../store/store.ts'
import type { Attempts } from './attempts/attempts.ts'
import type { KnownBrowsers } from './attempts/known_browsers.ts'
import { openRequiredPassword, wrongPassword } from './attempts/required_password.ts'
import type { Audit } from './audit.ts'
import { weaknessOf } from './common_passwords.ts'
import type { Owner } from './owner.ts'
import { hashPassword } from './passwords.ts'
import { openCodeStep } from './second_factor/code_step.ts'
import type { SecondFactor } from './second_factor/second_factor.ts'
import type { SessionCookie } from './session_cookie.ts'
import type { Session, Sessions } from './sessions.ts'

const MAX_AGENT_LENGTH = 200
export type SignIn = ReturnType<typeof openSignIn>

type Deps = {
  store: Store
  clock: Clock
  owner: Owner
  secondFactor: SecondFactor
  sessions: Sessions
  audit: Audit
  attempts: Attempts
  sessionCookie: SessionCookie
  knownBrowsers: KnownBrowsers
}

/** @throws Refusal 400 `weak_password`. */
function requireStrongPassword(password: string): void {
  const weakness = weaknessOf(password)
  if (weakness === null) return
  const message = `must ${weakness}`
  throw new Refusal(400, 'weak_password', `The password ${message}.`, {
    errors: [{ path: 'password', message }],
  })
}

/** Opens the sign-in. */
export function openSignIn(deps: Deps) {
  const { store, clock, owner, sessions, audit, attempts, sessionCookie, knownBrowsers } = deps
  const codeStep = openCodeStep(deps)
  const requirePassword = openRequiredPassword(deps)

  /** Begins a session and sets its cookie. `alsoRun` runs in the same unit of work and may throw a Refusal. */
  async function startSession(
    event: H3Event,
    link_id: string | null,
    alsoRun: () => void,
    confirmed_at = clock(),
  ): Promise<Session> {
    const previousToken = sessionCookie.tokenOf(event)
    const session = await store.commit(() => {
      alsoRun()
      // The new cookie replaces the old one, so the old session must end.
      const old = previousToken === null ? null : sessions.find(previousToken)
      if (old) sessions.end(old.id)
      if (link_id === null) knownBrowsers.prepare()
      return sessions.begin({
        link_id,
        confirmed_at,
        address: clientAddress(event),
        user_agent: agentOf(event),
      })
    })
    return setCookie(event, session)
  }

  function setCookie(event: H3Event, { token, ...session }: Session & { token: string }): Session {
    const seconds = (sessions.absoluteExpiryOf(session) - clock()) / 1000
    sessionCookie.setToken(event, token, seconds)
    if (session.link_id === null) knownBrowsers.remember(event)
    return session
  }

  const ownerActor = (event: H3Event) => ({ actor: 'owner', address: clientAddress(event) })
  const OWNER = { account: 'owner', action: 'owner.sign_in_failed' } as const

  /** @throws Refusal 401 `invalid_link` for a wrong link. A link can be used once, within thirty minutes. */
  async function requireValidLink(event: H3Event, kind: 'setup' | 'sign_in', token: string): Promise<void> {
    const wrong = { ...OWNER, why: 'wrong link' }
    if (!(await attempts.attempt(event, wrong, async () => owner.isValidLink(kind, token))))
      throw invalidLink()
  }

  /**
   * Sets the first password by the setup link. `alsoRun` runs in the same unit of work. The link stays valid after an
   * error.
   *
   * @throws Refusal 401 `invalid_link`, 400 `weak_password`
   */
  async function setUp(
    event: H3Event,
    { token, password }: { token: string; password: string },
    alsoRun: () => void,
  ): Promise<Session> {
    await requireValidLink(event, 'setup', token)
    requireStrongPassword(password)
    const phc = await hashPassword(password)
    return startSession(event, null, () => {
      // Another request may have used the link meanwhile.
      if (!owner.isValidLink('setup', token)) throw invalidLink()
      owner.setPassword(phc)
      sessions.endOwners(null)
      alsoRun()
      audit.note({ ...ownerActor(event), action: 'owner.set_up' })
    })
  }

  /** @throws Refusal 401 `invalid_link`. */
  async function signInByLink(event: H3Event, token: string): Promise<Session> {
    await requireValidLink(event, 'sign_in', token)
    return startSession(event, null, () => {
      if (!owner.isValidLink('sign_in', token)) throw invalidLink()
      owner.consumeLink()
      audit.note({ ...ownerActor(event), action: 'owner.signed_in', detail: 'by a link' })
    })
  }

  /**
   * Signs in with the password and, if the second factor is on, with a code.
   *
   * @throws Refusal 401 `wrong_password`, `code_required` or `wrong_code`; 409 `key_unreadable`.
   */
  async function signInByPassword(event: H3Event, password: string, code?: string): Promise<Session> {
    const storedHash = await requirePassword(event, password)
    const right = await codeStep.requireCode(event, code)
    return startSession(event, null, () => {
      if (owner.password() !== storedHash) throw wrongPassword()
      codeStep.useCode(right)
      const detail = right && `with a ${right.kind}`
      audit.note({ ...ownerActor(event), action: 'owner.signed_in', detail })
    })
  }

  /**
   * Confirms the password and, if the second factor is on, a code: the session becomes fresh and gets a new token.
   *
   * @throws Refusal 401 `wrong_password`, `code_required` or `wrong_code`; 409 `key_unreadable`.
   */
  async function confirm(
    event: H3Event,
    session: Session,
    { password, code }: { password: string; code?: string },
  ): Promise<Session> {
    await requirePassword(event, password)
    const right = await codeStep.requireCode(event, code)
    const confirmed = await store.commit(() => {
      codeStep.useCode(right)
      audit.note({ ...ownerActor(event), action: 'owner.confirmed' })
      return sessions.confirm(session)
    })
    return setCookie(event, confirmed)
  }

  /**
   * Sets another password; requires the current one and, if the second factor is on, a code. Every other session of the
   * owner ends.
   *
   * @throws Refusal 400 `weak_password`; 401 `wrong_password`, `code_required` or `wrong_code`; 401 `sign_in_required` if
   * the session has ended; 409 `key_unreadable`.
   */
  async function changePassword(
    event: H3Event,
    session: Session,
    { current_password, password, code }: { current_password: string; password: string; code?: string },
  ): Promise<Session> {
    requireStrongPassword(password)
    const storedHash = await requirePassword(event, current_password)
    const right = await codeStep.requireCode(event, code)
    const phc = await hashPassword(password)
    const renewed = await store.commit(() => {
      if (owner.password() !== storedHash) throw wrongPassword()
      codeStep.useCode(right)
      owner.setPassword(phc)
      sessions.endOwners(session.id)
      knownBrowsers.forgetAll()
      knownBrowsers.prepare()
      audit.note({ ...ownerActor(event), action: 'owner.password_changed' })
      return sessions.confirm(session)
    })
    return setCookie(event, renewed)
  }

  return { startSession, setUp, signInByLink, signInByPassword, confirm, changePassword }
}

const invalidLink = (): Refusal =>
  new Refusal(
    401,
    'invalid_link',
    'the link is invalid, already used, or older than thirty minutes; `windfall owner reset` prints a new one',
  )

const agentOf = (event: H3Event): string =>
  (header(event, 'user-agent') ?? '').replace(/\p{Cc}/gu, ' ').slice(0, MAX_AGENT_LENGTH)
