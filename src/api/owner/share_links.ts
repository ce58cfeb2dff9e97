/** What may be asked: share links: made and revoked by the owner, opened by guests. */
import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Readers } from '../../access/auth.ts'
import { reachWished, WISHED, Wish } from '../../access/grants.ts'
import type { Owner } from '../../access/owner.ts'
import { checkPassword, hashPassword } from '../../access/passwords.ts'
import type { Doorway } from '../../access/session_cookie.ts'
import { openStanding, SessionAnswer } from '../../access/session_status.ts'
import type { Sessions } from '../../access/sessions.ts'
import type { ShareLink, ShareLinks } from '../../access/share_links.ts'
import type { SignIn } from '../../access/sign_in.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { clientAddress } from '../../http/addresses.ts'
import { readJson } from '../../http/body/body.ts'
import { parse } from '../../http/parse.ts'
import type { Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { OWNER_REFUSED, OWNERS, SECRETS_REFUSED } from '../route_defaults.ts'
import { BODY_BYTES, Password } from './sign_in.ts'

const FEWEST_PASSCODE = 6
const bases = v.picklist(['gross', 'proceeds'])
const LinkWish = v.strictObject({
  ...Wish,
  basis: v.pipe(bases, v.description('The only form in which guests see money')),
  passcode: v.optional(
    v.pipe(
      v.nullable(
        v.pipe(Password, v.minLength(FEWEST_PASSCODE, `must have at least ${FEWEST_PASSCODE} characters`)),
      ),
      v.description('What guests have to know besides the link'),
    ),
    null,
  ),
})
const Opening = v.strictObject({
  token: v.pipe(
    v.string(),
    v.nonEmpty('must not be empty'),
    v.maxLength(200, 'is no token of ours'),
    v.description('What stands after the # of the link'),
  ),
  passcode: v.optional(v.nullable(Password), null),
})
export const LinkAnswer = v.object({
  ...WISHED,
  basis: bases,
  has_passcode: v.boolean(),
  opened_at: v.pipe(v.nullable(v.number()), v.description('When somebody came by it last')),
})
export const LinksAnswer = v.object({ share_links: v.array(LinkAnswer) })
const MadeAnswer = v.object({
  ...LinkAnswer.entries,
  url: v.pipe(v.string(), v.description('The link itself, shown this once')),
})

type Deps = {
  store: Pick<Store, 'condition'>
  clock: Clock
  organizations: Organizations
  apps: Apps
  owner: Owner
  links: ShareLinks
  sessions: Sessions
  signIn: SignIn
  doorway: Doorway
  readers: Readers
  audit: Audit
  base_url: () => string | undefined
}

export function linkRoutes(deps: Deps): Route[] {
  const { links, readers, audit, base_url } = deps

  function list(event: H3Event) {
    readers.owner(event)
    return { share_links: links.list() }
  }

  async function create(event: H3Event) {
    readers.freshOwner(event)
    const wish = parse(LinkWish, await readJson(event, BODY_BYTES))
    const { label, basis, expires_at } = wish
    const reach = reachWished(deps, wish)
    const passcode = wish.passcode === null ? null : await hashPassword(wish.passcode)
    const { token, ...link } = await readers.commitAs(event, readers.freshOwner, (who) => {
      const made = links.create({ ...reach, label, basis, expires_at, passcode })
      audit.note({ ...who, action: 'link.made', subject: made.id, detail: label })
      return made
    })
    event.res.status = 201
    return { ...link, url: `${base_url() ?? ''}/share#${token}` }
  }

  async function revoke(event: H3Event) {
    readers.owner(event)
    const id = event.context.params?.id ?? ''
    await readers.commitAs(event, readers.owner, (who) => {
      const { label } = links.revoke(id)
      audit.note({ ...who, action: 'link.revoked', subject: id, detail: label })
    })
  }

  return routesFor({ list, create, revoke, open: opening(deps) })
}

/** Lets a guest in. */
function opening(deps: Deps) {
  const { links, signIn, doorway, readers, audit } = deps
  const standing = openStanding(deps)

  /** @throws Refusal 401 `invalid_share_link`. */
  async function linkOf(event: H3Event, token: string) {
    const known = links.byToken(token)
    const wrong = { account: 'share link', action: 'link.refused', why: 'wrong link' } as const
    if ((await signIn.attempt(event, wrong, async () => known !== null)) && known) return known
    throw overLink()
  }

  /** @throws Refusal 401 `passcode_required` or `wrong_passcode`. */
  async function demandPasscode(event: H3Event, link: ShareLink, phc: string, passcode: string | null) {
    if (passcode === null) throw new Refusal(401, 'passcode_required', 'this link asks for a passcode, too')
    const wrong = { account: link.id, action: 'link.refused', why: 'wrong passcode' } as const
    const check = async (is_clean: boolean) =>
      (await checkPassword(passcode, phc, is_clean ? 'first' : 'later')).fits
    if (!(await signIn.attempt(event, wrong, check)))
      throw new Refusal(401, 'wrong_passcode', 'this is not the passcode of the link')
  }

  return async function open(event: H3Event) {
    doorway.demandSameSite(event)
    doorway.demandOpen(event)
    const { token, passcode } = parse(Opening, await readJson(event, BODY_BYTES, 'reserved'))
    if (readers.signedIn(event)?.kind === 'owner') {
      const detail =
        'you are signed in as the owner; open the link in a private window to see what guests see'
      throw new Refusal(409, 'signed_in_already', detail)
    }
    const { link, passcode: phc } = await linkOf(event, token)
    if (phc !== null) await demandPasscode(event, link, phc, passcode)
    const session = await signIn.enter(event, link.id, () => {
      if (!links.get(link.id)) throw overLink()
      links.noteOpening(link.id)
      audit.note({ actor: link.id, address: clientAddress(event), action: 'link.opened', subject: link.id })
    })
    const { organization_id, apps } = link
    return standing(event, { kind: 'guest', reach: { organization_id, apps }, session, link })
  }
}

const overLink = (): Refusal =>
  new Refusal(
    401,
    'invalid_share_link',
    'this link is wrong, revoked or over; ask for another where you got it',
  )

type Handlers = Record<'list' | 'create' | 'revoke' | 'open', Route['handler']>

function routesFor(handlers: Handlers): Route[] {
  return [
    {
      ...OWNERS,
      method: 'GET',
      path: '/api/v1/share-links',
      summary: 'The share links, ended ones too, newest first',
      answers: { 200: { description: 'All of them', schema: LinksAnswer }, ...OWNER_REFUSED },
      handler: handlers.list,
    },
    {
      ...OWNERS,
      method: 'POST',
      path: '/api/v1/share-links',
      summary:
        'Makes a link by which guests read overview, metrics and cohorts of some apps, and nothing else',
      body: LinkWish,
      answers: { 201: { description: 'The link, shown this once', schema: MadeAnswer }, ...SECRETS_REFUSED },
      handler: handlers.create,
    },
    {
      ...OWNERS,
      method: 'DELETE',
      path: '/api/v1/share-links/:id',
      summary: 'Revokes a link; whoever came by it is out at once',
      answers: {
        204: { description: 'It is revoked' },
        ...OWNER_REFUSED,
        404: { description: 'unknown_link' },
      },
      handler: handlers.revoke,
    },
    {
      method: 'POST',
      path: '/api/v1/share/open',
      tag: 'Owner',
      security: ['none'],
      summary: 'Signs a guest in by a share link',
      body: Opening,
      answers: {
        200: { description: 'What the guest may read, with the cookie', schema: SessionAnswer },
        400: { description: 'invalid_request' },
        401: { description: 'invalid_share_link, passcode_required, wrong_passcode' },
        403: { description: 'insecure_transport, cross_site' },
        409: { description: 'signed_in_already' },
        429: { description: 'rate_limited' },
        503: { description: 'busy, store_unavailable' },
      },
      handler: handlers.open,
    },
  ]
}
