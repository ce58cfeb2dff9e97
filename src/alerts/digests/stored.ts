/** The stored digests. Writing functions must run inside a unit of work. */
import type { Store } from '../../store/store.ts'
import type { DigestFigures, DigestKind } from './figures.ts'

/** The key of a digest. */
type DigestKey = Readonly<{ channel_id: string; kind: DigestKind; digested_on: string }>

/** A digest. `figures` and `message_id` are null if it was skipped. */
export type Digest = DigestKey & {
  id: string
  organization_id: string
  channel_name: string
  message_id: string | null
  figures: DigestFigures | null
  made_at: number
}

type Row = Omit<Digest, 'figures'> & { figures: string | null }
type Query = { organization_id: string | null; before: string | null; limit: number }

export type Digests = ReturnType<typeof openStoredDigests>

/** The id of a digest, which follows from its key. */
export const digestId = ({ channel_id, kind, digested_on }: DigestKey): string =>
  `${channel_id}-${kind}-${digested_on}`

const ID = "channel_id || '-' || alert_digests.kind || '-' || digested_on"
const SELECT = `
  select ${ID} as id, channel_id, alert_digests.kind, digested_on, message_id, figures, made_at, organization_id,
    name as channel_name
  from alert_digests join alert_channels on alert_channels.id = channel_id`

/** Opens the digests. */
export function openStoredDigests(store: Pick<Store, 'prepare'>) {
  const insert = store.prepare<DigestKey & Pick<Row, 'message_id' | 'figures' | 'made_at'>>(`
    insert into alert_digests ( channel_id,  kind,  digested_on,  message_id,  figures,  made_at)
    values                    (:channel_id, :kind, :digested_on, :message_id, :figures, :made_at)
    on conflict do nothing`)
  const selectKey = store.prepare<DigestKey, object>(`
    select 1 from alert_digests
    where channel_id = :channel_id and kind = :kind and digested_on = :digested_on`)
  const selectOne = store.prepare<[string], Row>(`${SELECT} where ${ID} = ?`)
  const page = store.prepare<Query, Row>(`${SELECT}
    where (:organization_id is null or organization_id = :organization_id)
      and (:before is null or (made_at, ${ID}) < (select made_at, ${ID} from alert_digests where ${ID} = :before))
    order by made_at desc, ${ID} desc limit :limit`)

  return {
    has: ({ channel_id, kind, digested_on }: DigestKey): boolean =>
      selectKey.get({ channel_id, kind, digested_on }) !== undefined,
    /** Adds a digest. Does nothing if its key exists. */
    add({
      channel_id,
      kind,
      digested_on,
      message_id,
      figures,
      made_at,
    }: Omit<Digest, 'id' | 'organization_id' | 'channel_name'>): void {
      const text = figures && JSON.stringify(figures)
      insert.run({ channel_id, kind, digested_on, message_id, figures: text, made_at })
    },
    get(id: string): Digest | null {
      const row = selectOne.get(id)
      return row === undefined ? null : digestOf(row)
    },
    /** The newest digests before the one with the id `before`, at most `limit`. */
    list: (query: Query): Digest[] => page.all(query).map(digestOf),
  }
}

const digestOf = (row: Row): Digest => ({
  ...row,
  figures: row.figures === null ? null : JSON.parse(row.figures),
})
