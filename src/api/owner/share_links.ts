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
import { defineRoute, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'
import { OWNERS } from '../route_defaults.ts'
import { Password, readSignIn } from './sign_in.ts'

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

export function shareLinkRoutes(deps: Deps): Route[] {
  const { links, readers, audit, base_url } = deps

  return [
    defineRoute({
      ...OWNERS,
      method: 'GET',
      path: '/api/v1/share-links',
      summary: 'The share links, ended ones too, newest first',
      access: readers.owner,
      answers: { 200: { description: 'All of them', schema: LinksAnswer } },
      handler: () => ({ share_links: links.list() }),
    }),
    defineRoute({
      ...OWNERS,
      method: 'POST',
      path: '/api/v1/share-links',
      summary:
        'Makes a link by which guests read overview, metrics and cohorts of some apps, and nothing else',
      access: readers.freshOwner,
      body: LinkWish,
      answers: { 201: { description: 'The link, shown this once', schema: MadeAnswer } },
      refusals: { 404: 'unknown_app, unknown_organization' },
      async handler({ event, body }) {
        const { label, basis, expires_at } = body
        const reach = reachWished(deps, body)
        const passcode = body.passcode === null ? null : await hashPassword(body.passcode)
        const { token, ...link } = await readers.commitAs(event, readers.freshOwner, (who) => {
          const made = links.create({ ...reach, label, basis, expires_at, passcode })
          audit.note({ ...who, action: 'link.made', subject: made.id, detail: label })
          return made
        })
        event.res.status = 201
        return { ...link, url: `${base_url() ?? ''}/share#${token}` }
      },
    }),
    defineRoute({
      ...OWNERS,
      method: 'DELETE',
      path: '/api/v1/share-links/:id',
      summary: 'Revokes a link; whoever came by it is out at once',
      access: readers.owner,
      answers: { 204: { description: 'It is revoked' } },
      refusals: { 404: 'unknown_link' },
      async handler({ event, params: { id } }) {
        await readers.commitAs(event, readers.owner, (who) => {
          const { label } = links.revoke(id)
          audit.note({ ...who, action: 'link.revoked', subject: id, detail: label })
        })
      },
    }),
    openRoute(deps),
  ]
}

/** Lets a guest in. */
function openRoute(deps: Deps): Route {
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

  /** Begins the guest's session, unless the link ended meanwhile. */
  async function enter(event: H3Event, link: ShareLink) {
    const session = await signIn.enter(event, link.id, () => {
      if (!links.get(link.id)) throw overLink()
      links.noteOpening(link.id)
      audit.note({ actor: link.id, address: clientAddress(event), action: 'link.opened', subject: link.id })
    })
    const { organization_id, apps } = link
    return standing(event, { kind: 'guest', reach: { organization_id, apps }, session, link })
  }

  return defineRoute({
    ...OWNERS,
    method: 'POST',
    path: '/api/v1/share/open',
    summary: 'Signs a guest in by a share link',
    access: doorway.visitor,
    body: Opening,
    read_body: readSignIn,
    answers: { 200: { description: 'What the guest may read, with the cookie', schema: SessionAnswer } },
    refusals: {
      401: 'invalid_share_link, passcode_required, wrong_passcode',
      409: 'signed_in_already',
      429: 'rate_limited',
    },
    async handler({ event, body: { token, passcode } }) {
      if (readers.signedIn(event)?.kind === 'owner') {
        const detail =
          'you are signed in as the owner; open the link in a private window to see what guests see'
        throw new Refusal(409, 'signed_in_already', detail)
      }
      const { link, passcode: phc } = await linkOf(event, token)
      if (phc !== null) await demandPasscode(event, link, phc, passcode)
      return enter(event, link)
    },
  })
}

const overLink = (): Refusal =>
  new Refusal(
    401,
    'invalid_share_link',
    'this link is wrong, revoked or over; ask for another where you got it',
  )
