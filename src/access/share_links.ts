/** Share links: what a guest may read, and until when. Only hashes of their tokens are stored. */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { MAX_TIMESTAMP_MS } from '../days.ts'
import { Refusal } from '../errors.ts'
import { newId, sha256Of } from '../ids.ts'
import type { Basis } from '../money.ts'
import type { Store } from '../store/store.ts'
import type { MetricLimit } from './metric_limit.ts'
import type { Sessions } from './sessions.ts'
import type { AccessScope } from './tokens.ts'

export type ShareLink = AccessScope & {
  id: string
  label: string
  basis: Basis
  metrics: MetricLimit
  has_passcode: boolean
  created_at: number
  expires_at: number | null
  opened_at: number | null
  revoked_at: number | null
}
type Row = Omit<ShareLink, 'apps' | 'metrics' | 'has_passcode'> & {
  apps: string | null
  metrics: string | null
  passcode: string | null
}

/** The fields of a new link; `passcode` is a PHC string. */
type NewShareLink = AccessScope & {
  label: string
  basis: Basis
  metrics: MetricLimit
  expires_at: number | null
  passcode: string | null
}

export type ShareLinks = ReturnType<typeof openShareLinks>

/** Opens the share links. */
export function openShareLinks(store: Store, clock: Clock, sessions: Sessions) {
  const columns = `
    id, organization_id, apps, basis, label, passcode, created_at, min(expires_at, ${MAX_TIMESTAMP_MS}) as expires_at,
    opened_at, revoked_at, metrics`
  const insert = store.prepare<Row & { hash: Buffer }>(`
    insert into share_links ( id,  organization_id,  apps,  basis,  label,  hash,  passcode,  created_at,  expires_at,  opened_at,  revoked_at,  metrics)
    values                  (:id, :organization_id, :apps, :basis, :label, :hash, :passcode, :created_at, :expires_at, :opened_at, :revoked_at, :metrics)`)
  const byHash = store.prepare<[Buffer], Row>(`select ${columns} from share_links where hash = ?`)
  const byId = store.prepare<[string], Row>(`select ${columns} from share_links where id = ?`)
  const all = store.prepare<[], Row>(`select ${columns} from share_links order by created_at desc, id`)
  const updateOpenedAt = store.prepare<[number, string]>('update share_links set opened_at = ? where id = ?')
  const updateRevokedAt = store.prepare<[number, string]>(
    'update share_links set revoked_at = ? where id = ? and revoked_at is null',
  )

  /** Creates a link. Its token is returned only here. Inside a unit of work. */
  function create(link: NewShareLink): ShareLink & { token: string } {
    const token = randomBytes(32).toString('base64url')
    const row = rowOf(link, clock())
    insert.run({ ...row, hash: sha256Of(token) })
    return { ...linkOf(row), token }
  }

  const isActive = ({ revoked_at, expires_at }: Row): boolean =>
    revoked_at === null && (expires_at === null || expires_at > clock())

  const activeRow = (row: Row | undefined): Row | null => (row && isActive(row) ? row : null)

  /** The link of a token, with the hash of its passcode; null if it is unknown, expired or revoked. */
  function byToken(token: string): { link: ShareLink; passcode: string | null } | null {
    const row = activeRow(byHash.get(sha256Of(token)))
    return row && { link: linkOf(row), passcode: row.passcode }
  }

  /** The link with this id; null if it is unknown, expired or revoked. */
  function get(id: string): ShareLink | null {
    const row = activeRow(byId.get(id))
    return row && linkOf(row)
  }

  /** Revokes a link and its guests' sessions. Inside a unit of work. @throws Refusal 404 `unknown_link`. */
  function revoke(id: string): ShareLink {
    const row = byId.get(id)
    if (!row) throw new Refusal(404, 'unknown_link', `there is no share link ${id}`)
    updateRevokedAt.run(clock(), id)
    sessions.endOfLink(id)
    return linkOf(byId.get(id) ?? row)
  }

  return {
    create,
    byToken,
    get,
    revoke,
    /** Records that a guest opened the link. Inside a unit of work. */
    noteOpening: (id: string): void => void updateOpenedAt.run(clock(), id),
    /** All links, newest first, including expired and revoked ones. */
    list: (): ShareLink[] => all.all().map(linkOf),
  }
}

const rowOf = ({ apps, metrics, ...fields }: NewShareLink, created_at: number): Row => ({
  ...fields,
  id: newId('lnk'),
  apps: apps && JSON.stringify(apps),
  metrics: metrics && JSON.stringify(metrics),
  created_at,
  opened_at: null,
  revoked_at: null,
})

const linkOf = ({ passcode, apps, metrics, ...row }: Row): ShareLink => ({
  ...row,
  apps: apps === null ? null : JSON.parse(apps),
  metrics: metrics === null ? null : JSON.parse(metrics),
  has_passcode: passcode !== null,
})
