/** The stored channels. All writing functions must run inside a unit of work. */
import type { Clock } from '../../clock.ts'
import { newId } from '../../ids.ts'
import type { Secrets } from '../../outgoing/secrets.ts'
import type { Store } from '../../store/store.ts'
import type { DigestKind } from '../digests/figures.ts'

/**
 * A channel without its secrets. `digests`: the digests that it gets. `source`: dashboard or config. schema.sql documents
 * the other fields.
 */
export type Channel = {
  id: string
  organization_id: string
  name: string
  kind: string
  settings: Record<string, unknown>
  hides_amounts: boolean
  digests: readonly DigestKind[]
  source: string
  state: 'active' | 'dead' | 'disabled'
  reason: string | null
  state_since: number
  next_at: number | null
  last_sent_at: number | null
  last_failed_at: number | null
  created_at: number
}

/** What is entered about a channel. */
type ChannelFields = Pick<
  Channel,
  'organization_id' | 'name' | 'kind' | 'settings' | 'hides_amounts' | 'digests' | 'source'
>

/** A channel that has sent nothing yet. */
export const newChannel = (fields: ChannelFields, now: number): Channel => ({
  ...fields,
  id: newId('alc'),
  state: 'active',
  reason: null,
  state_since: now,
  next_at: null,
  last_sent_at: null,
  last_failed_at: null,
  created_at: now,
})

type Row = Omit<Channel, 'settings' | 'hides_amounts' | 'digests'> & {
  settings: string
  hides_amounts: number
  digests: string
}

export type Channels = ReturnType<typeof openChannels>

const COLUMNS = `id, organization_id, name, kind, settings, hides_amounts, digests, source, state, reason, state_since,
  next_at, last_sent_at, last_failed_at, created_at`

/** Opens the channels. */
export function openChannels(store: Store, clock: Clock, secrets: Pick<Secrets, 'seal' | 'open'>) {
  const all = store.prepare<[], Row>(
    `select ${COLUMNS} from alert_channels where deleted_at is null order by created_at, rowid`,
  )
  const upsert = store.prepare<Row>(`
    insert into alert_channels ( id,  organization_id,  name,  kind,  settings,  hides_amounts,  digests,  source,  state,  reason,  state_since,  next_at,  last_sent_at,  last_failed_at,  created_at)
    values                     (:id, :organization_id, :name, :kind, :settings, :hides_amounts, :digests, :source, :state, :reason, :state_since, :next_at, :last_sent_at, :last_failed_at, :created_at)
    on conflict (id) do update set name = excluded.name, kind = excluded.kind, settings = excluded.settings,
      hides_amounts = excluded.hides_amounts, digests = excluded.digests, source = excluded.source,
      state = excluded.state, reason = excluded.reason, state_since = excluded.state_since, next_at = excluded.next_at,
      last_sent_at = excluded.last_sent_at, last_failed_at = excluded.last_failed_at`)
  const remove = store.prepare<[number, string]>(
    'update alert_channels set deleted_at = ?, sealed = null where id = ? and deleted_at is null',
  )
  const cached = store.cached(['alert_channels'], () => all.all().map(channelOf))

  /** All channels, oldest first, or those of one organization. */
  const list = (organization_id: string | null = null): readonly Channel[] =>
    cached('').filter((channel) => organization_id === null || channel.organization_id === organization_id)

  const get = (id: string): Channel | null => cached('').find((channel) => channel.id === id) ?? null

  /** Adds or changes a channel, without its secrets. */
  function put(channel: Channel): void {
    upsert.run({
      ...channel,
      settings: JSON.stringify(channel.settings),
      hides_amounts: channel.hides_amounts ? 1 : 0,
      digests: JSON.stringify(channel.digests),
    })
  }

  /** Changes the state of a channel. */
  const setState = (channel: Channel, state: Channel['state'], reason: string | null): void =>
    put({ ...channel, state, reason, state_since: channel.state === state ? channel.state_since : clock() })

  return {
    list,
    get,
    put,
    setState,
    ...openChannelSecrets(store, secrets),
    /** Removes a channel and its secrets. Its messages stay in the history. */
    remove: (id: string): void => void remove.run(clock(), id),
  }
}

/** Opens the secret settings of channels. */
function openChannelSecrets(store: Pick<Store, 'prepare'>, secrets: Pick<Secrets, 'seal' | 'open'>) {
  const selectSealed = store.prepare<[string], { sealed: string | null }>(
    'select sealed from alert_channels where id = ?',
  )
  const updateSealed = store.prepare<[string, string]>('update alert_channels set sealed = ? where id = ?')
  /** The secrets of declared channels, which are not stored, by the id of the channel. */
  let declared: ReadonlyMap<string, object> = new Map()

  /** Stores secret settings, sealed. @throws Refusal as `seal` */
  const setSecrets = (id: string, values: object): void =>
    void updateSealed.run(secrets.seal(JSON.stringify(values), locationOf(id)), id)

  /** The secret settings of a channel; empty if it has none. @throws SecretUnreadable */
  function secretsOf({ id }: Pick<Channel, 'id'>): object {
    const known = declared.get(id)
    if (known) return known
    const sealed = selectSealed.get(id)?.sealed ?? null
    return sealed === null ? {} : JSON.parse(secrets.open(sealed, locationOf(id)))
  }

  /** Replaces the secrets of declared channels. */
  function declareSecrets(next: ReadonlyMap<string, object>): void {
    declared = next
  }

  return { setSecrets, secretsOf, declareSecrets }
}

const locationOf = (row: string) => ({ table: 'alert_channels', column: 'sealed', row })

const channelOf = ({ settings, hides_amounts, digests, ...row }: Row): Channel => ({
  ...row,
  settings: JSON.parse(settings),
  hides_amounts: hides_amounts === 1,
  digests: JSON.parse(digests),
})
