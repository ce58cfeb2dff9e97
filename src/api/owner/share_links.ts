/** `/api/v1/share-links`: created and revoked by the owner, opened by guests. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Attempts } from '../../access/attempts/attempts.ts'
import type { Lane } from '../../access/attempts/throttle.ts'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import { GRANT_FIELDS, GrantRequest, resolveGrant } from '../../access/grants.ts'
import type { Owner } from '../../access/owner.ts'
import type { Passkeys } from '../../access/passkeys/passkeys.ts'
import { checkPassword, hashPassword } from '../../access/passwords.ts'
import { list } from '../../access/scope.ts'
import type { SessionCookie } from '../../access/session_cookie.ts'
import { openSessionStatus, SessionAnswer } from '../../access/session_status.ts'
import type { Sessions } from '../../access/sessions.ts'
import type { ShareLink, ShareLinks } from '../../access/share_links.ts'
import type { SignIn } from '../../access/sign_in.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { clientAddress } from '../../http/addresses.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Imports } from '../../ledger/reports/imports.ts'
import type { Store } from '../../store/store.ts'
import { defineList } from '../lists.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'
import { ALL_DERIVABLE, DerivableAnswer, derivableFields, resolveMetrics } from './shared_metrics.ts'
import { Password, readSignIn } from './sign_in.ts'

const MIN_PASSCODE_LENGTH = 6
const MAX_METRICS = 100
const bases = v.picklist(['gross', 'proceeds'])
const CreateBody = v.strictObject({
  ...GrantRequest,
  basis: v.pipe(bases, v.description('The only basis in which guests see money')),
  metrics: v.optional(
    v.pipe(
      v.nullable(
        v.pipe(
          v.array(v.string()),
          v.minLength(1, 'must name at least one'),
          v.maxLength(MAX_METRICS, `must name at most ${MAX_METRICS}`),
        ),
      ),
      v.description('The names of the only metrics that guests see; null for all, including future ones'),
    ),
    null,
  ),
  passcode: v.optional(
    v.pipe(
      v.nullable(
        v.pipe(
          Password,
          v.minLength(MIN_PASSCODE_LENGTH, `must have at least ${MIN_PASSCODE_LENGTH} characters`),
        ),
      ),
      v.description('A passcode that guests need in addition to the link'),
    ),
    null,
  ),
})
const OpenBody = v.strictObject({
  token: v.pipe(
    v.string(),
    v.nonEmpty('must not be empty'),
    v.maxLength(200, 'is not a valid token'),
    v.description('The part of the link after #'),
  ),
  passcode: v.optional(v.nullable(Password), null),
})
export const LinkAnswer = v.object({
  ...GRANT_FIELDS,
  basis: bases,
  metrics: v.pipe(
    v.nullable(v.array(v.string())),
    v.description('The only metrics that guests see; null for all'),
  ),
  has_passcode: v.boolean(),
  opened_at: v.pipe(v.nullable(v.number()), v.description('When a guest last opened the link')),
})
export const LinksAnswer = v.object({ share_links: v.array(LinkAnswer) })
const CreatedAnswer = v.object({
  ...LinkAnswer.entries,
  url: v.pipe(v.string(), v.description('The link; shown only in this response')),
  ...DerivableAnswer.entries,
})
const DerivableQuery = v.object({
  metrics: v.optional(
    v.pipe(
      list,
      v.description('Names of metrics, separated by commas; default: every single step is listed'),
    ),
  ),
  basis: v.optional(v.pipe(bases, v.description('The basis of the link')), 'gross'),
})

type Deps = {
  store: Pick<Store, 'condition'>
  clock: Clock
  organizations: Organizations
  apps: Apps
  owner: Owner
  passkeys: Passkeys
  links: ShareLinks
  sessions: Sessions
  attempts: Attempts
  signIn: SignIn
  sessionCookie: SessionCookie
  auth: Auth
  audit: Audit
  base_url: () => string | undefined
  imports: Pick<Imports, 'progress'>
}

export function shareLinkRoutes(deps: Deps): Route[] {
  const { links, auth, audit, base_url } = deps

  return [
    ...defineList(auth, {
      ...OWNER_ROUTE,
      path: '/api/v1/share-links',
      summary: 'Lists share links, including ended ones, newest first',
      access: auth.owner,
      answer: { description: 'All share links', schema: LinksAnswer },
      read: () => ({ share_links: links.list() }),
    }),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'POST',
      path: '/api/v1/share-links',
      summary: 'Creates a link for guests. Guests see only the overview, metrics and cohorts of some apps',
      access: auth.freshOwner,
      body: CreateBody,
      answers: { 201: { description: 'The link, shown only in this response', schema: CreatedAnswer } },
      refusals: { 404: 'unknown_app, unknown_organization' },
      async handler({ event, body }) {
        const { label, basis, expires_at } = body
        const accessScope = resolveGrant(deps, body)
        const metrics = body.metrics && resolveMetrics(body.metrics, basis)
        const passcode = body.passcode === null ? null : await hashPassword(body.passcode)
        const { token, ...link } = await auth.commitAs(event, auth.freshOwner, (actor) => {
          const created = links.create({ ...accessScope, label, basis, metrics, expires_at, passcode })
          const detail = metrics === null ? label : `${label} (${metrics.join(', ')})`
          audit.note({ ...actor, action: 'link.made', subject: created.id, detail })
          return created
        })
        event.res.status = 201
        return { ...link, url: `${base_url() ?? ''}/share#${token}`, ...derivableFields(metrics) }
      },
    }),
    ...derivableRoutes(deps),
    defineRoute({
      ...OWNER_ROUTE,
      method: 'DELETE',
      path: '/api/v1/share-links/:id',
      summary: 'Revokes a link; its guests lose access immediately',
      access: auth.owner,
      answers: { 204: { description: 'The link is revoked' } },
      refusals: { 404: 'unknown_link' },
      async handler({ event, params: { id } }) {
        await auth.commitAs(event, auth.owner, (actor) => {
          const { label } = links.revoke(id)
          audit.note({ ...actor, action: 'link.revoked', subject: id, detail: label })
        })
      },
    }),
    openLinkRoute(deps),
  ]
}

/** The routes that name what a new link would disclose. */
const derivableRoutes = ({ auth }: Deps): Route[] =>
  defineList(auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/share-links/derivable',
    summary: 'Lists what guests could compute from the metrics of a link before it is created',
    access: auth.owner,
    query: DerivableQuery,
    answer: { description: 'The figures that follow', schema: DerivableAnswer },
    read: ({ query: { metrics, basis } }) =>
      metrics === undefined ? ALL_DERIVABLE : derivableFields(resolveMetrics(metrics, basis)),
  })

/** The route that signs a guest in. */
function openLinkRoute(deps: Deps): Route {
  const { links, attempts, signIn, sessionCookie, auth, audit } = deps
  const sessionStatus = openSessionStatus(deps)

  /** @throws Refusal 401 `invalid_share_link`. */
  async function requireLink(event: H3Event, token: string) {
    const known = links.byToken(token)
    const wrong = { account: 'share link', action: 'link.refused', why: 'wrong link' } as const
    if ((await attempts.attempt(event, wrong, async () => known !== null)) && known) return known
    throw invalidShareLink()
  }

  /** @throws Refusal 401 `passcode_required` or `wrong_passcode`. */
  async function requirePasscode(event: H3Event, link: ShareLink, phc: string, passcode: string | null) {
    if (passcode === null) throw new Refusal(401, 'passcode_required', 'this link requires a passcode')
    const wrong = { account: link.id, action: 'link.refused', why: 'wrong passcode' } as const
    const isRight = async (lane: Lane) => (await checkPassword(passcode, phc, lane)).fits
    if (!(await attempts.attempt(event, wrong, isRight)))
      throw new Refusal(401, 'wrong_passcode', 'incorrect passcode')
  }

  /** Starts the guest's session, unless the link has ended meanwhile. */
  async function startGuestSession(event: H3Event, link: ShareLink) {
    const session = await signIn.startSession(event, link.id, () => {
      if (!links.get(link.id)) throw invalidShareLink()
      links.noteOpening(link.id)
      audit.note({ actor: link.id, address: clientAddress(event), action: 'link.opened', subject: link.id })
    })
    const { organization_id, apps } = link
    return sessionStatus(event, { kind: 'guest', accessScope: { organization_id, apps }, session, link })
  }

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/share/open',
    summary: 'Signs a guest in with a share link',
    access: sessionCookie.visitor,
    body: OpenBody,
    read_body: readSignIn,
    answers: { 200: { description: 'The guest’s session, with the cookie', schema: SessionAnswer } },
    refusals: {
      401: 'invalid_share_link, passcode_required, wrong_passcode',
      409: 'signed_in_already',
      429: 'rate_limited',
    },
    async handler({ event, body: { token, passcode } }) {
      if (auth.cookieCaller(event)?.kind === 'owner') {
        const detail =
          'you are signed in as the owner; to see the guest view, open the link in a private window'
        throw new Refusal(409, 'signed_in_already', detail)
      }
      const { link, passcode: phc } = await requireLink(event, token)
      if (phc !== null) await requirePasscode(event, link, phc, passcode)
      return startGuestSession(event, link)
    },
  })
}

const invalidShareLink = (): Refusal =>
  new Refusal(
    401,
    'invalid_share_link',
    'this link is wrong, revoked or expired; ask its sender for a new one',
  )
