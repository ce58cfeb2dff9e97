/** The identity card: reported and verified users of the purchases, with the reasons. */
import type { JSX } from 'preact'
import { ExportMenu } from '../../charts/export_menu.tsx'
import { Proofs, unattestedTitle } from '../../evidence/proofs.tsx'
import { Card } from '../../parts/card.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Empty } from '../../parts/query_view.tsx'
import { useScope } from '../../scope.ts'
import { count, instant, plural } from '../../words.ts'
import { Verified } from '../person.tsx'
import { Attributes } from './attributes.tsx'
import { ForgetButton } from './forget.tsx'
import { Moves } from './moves.tsx'
import type { Link, Profile, User } from './profile_answer.ts'
import { UserDevices } from './user_devices.tsx'

type Props = Pick<Profile, 'users' | 'links' | 'link_history' | 'customer'>

export function Identity({ users, links, link_history, customer }: Props): JSX.Element {
  const { id, app_id } = customer
  if (links.length === 0 && users.length === 0)
    return (
      <Card title="Identity" class="profile-identity">
        <Empty icon="customers" title="Not identified">
          <p>
            No call has linked these purchases to a user. Call <code>attribute</code> from your app after a
            purchase, or from your backend with the secret key.
          </p>
        </Empty>
        <Moves moves={link_history} />
      </Card>
    )
  return (
    <Card
      title="Identity"
      class="profile-identity"
      tools={<ExportMenu csvUrls={{ csv: `/api/v1/customers/${id}/links.csv` }} />}
    >
      <div class="stack">
        {users.map((user) => (
          <Person
            key={user.app_user_id}
            user={user}
            links={links.filter((link) => link.app_user_id === user.app_user_id)}
            app_id={app_id}
          />
        ))}
        <Moves moves={link_history} shown={links.map(({ why }) => why)} />
      </div>
    </Card>
  )
}

function Person({ user, links, app_id }: { user: User; links: Link[]; app_id: string }): JSX.Element {
  return (
    <section class="identity stack">
      <h3 class="identity-name">
        {user.app_user_id} <Verified {...verifiedCount(links)} />
      </h3>
      {reasonsOf(links).map(({ why, links: linksWithReason }) => (
        <Reason key={why} why={why} links={linksWithReason} of={links.length} />
      ))}
      <AboutUser user={user} />
      <UserDevices user={user.app_user_id} app_id={app_id} />
      <div class="row">
        <ForgetButton app_id={app_id} app_user_id={user.app_user_id} />
      </div>
    </section>
  )
}

/** How many of the links are verified. */
export const verifiedCount = (links: readonly Link[]): { verified: number; total: number } => ({
  verified: links.filter(({ verification }) => verification === 'verified').length,
  total: links.length,
})

/** Groups links by reason, so that equal reasons appear once. */
function reasonsOf(links: readonly Link[]): { why: string; links: Link[] }[] {
  const grouped = Map.groupBy(links, ({ why, proofs, proved_app_user_id }) =>
    JSON.stringify([why, proofs, proved_app_user_id]),
  )
  return [...grouped.values()].map((linksWithReason) => ({
    why: linksWithReason[0]?.why ?? '',
    links: linksWithReason,
  }))
}

function Reason({ why, links, of }: { why: string; links: Link[]; of: number }): JSX.Element | null {
  const { href } = useScope()
  const [first] = links
  if (!first) return null
  const { proved_app_user_id: proved, verification, proofs, unattested } = first
  return (
    <div class="stack-s">
      <p class={`notice ${verification === 'verified' ? 'good' : ''}`}>
        <Icon name={verification === 'verified' ? 'verified' : 'question'} />
        <span>
          {links.length < of && `${count(links.length)} of ${plural(of, 'purchase')}: `}
          <strong>{verification === 'verified' ? 'Purchase verified' : 'Purchase unverified'}.</strong> {why}{' '}
          {verification === 'unverified' && <a href={href('/settings/api')}>How to verify purchases</a>}
        </span>
      </p>
      <dl class="facts">
        <dt>Last reported user</dt>
        <dd>{first.app_user_id}</dd>
        <dt>Verified user</dt>
        <dd>
          {proved === null ? <span class="quiet">None</span> : proved}
          {proved !== null && proved !== first.app_user_id && (
            <span class={`badge ${first.handed_over ? '' : 'warn'}`}>
              {first.handed_over ? 'anonymous install' : 'another user'}
            </span>
          )}
        </dd>
        <dt>Verification</dt>
        <dd>
          <Proofs proofs={proofs} />
        </dd>
        {unattested && (
          <>
            <dt>Not attested</dt>
            <dd>{unattestedTitle(unattested)}</dd>
          </>
        )}
        <dt>Purchases</dt>
        <dd class="mono tiny">{links.map(({ transaction_id }) => transaction_id).join(', ')}</dd>
        <dt>Last reported</dt>
        <dd>{instant(Math.max(...links.map(({ updated_at }) => updated_at)))}</dd>
      </dl>
    </div>
  )
}

const PLATFORMS: Record<string, string> = { ios: 'iOS', android: 'Android', web: 'Web' }

function deviceOf({ device_model, platform, os_version, locale }: User): string {
  const system = [platform && (PLATFORMS[platform] ?? platform), os_version].filter(Boolean).join(' ')
  return [device_model, system, locale].filter(Boolean).join(', ')
}

/** What identify calls reported about the user. */
export function AboutUser({ user }: { user: User }): JSX.Element {
  if (user.verification === undefined)
    return (
      <p class="small quiet">
        This user is known only from a purchase. identify was never called for this user.
      </p>
    )
  const device = deviceOf(user)
  return (
    <>
      <dl class="facts">
        <dt>Last identify call</dt>
        <dd>
          <Verified verified={user.verification === 'verified' ? 1 : 0} total={1} /> {user.why}
        </dd>
        {device !== '' && (
          <>
            <dt>Device</dt>
            <dd>{device}</dd>
          </>
        )}
      </dl>
      <Attributes user={user} />
    </>
  )
}
