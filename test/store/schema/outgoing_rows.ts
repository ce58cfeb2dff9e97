/** Rows of webhooks, alerts and widgets in every state, as an owner with some history has them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { keyFileOf } from '../../../src/config/key_path.ts'
import type { TestApp } from '../../helpers.ts'

/** The key that seals the secrets of the fixture. Tests place it beside the database. */
const SEALING_KEY = `${Buffer.alloc(32, 7).toString('base64')}\n`

/** Writes the key of the fixture beside a database. */
export function placeSealingKey(database: string): void {
  mkdirSync(dirname(database), { recursive: true })
  writeFileSync(keyFileOf(database), SEALING_KEY, { mode: 0o600 })
}

const AT = 1772300000000
const HOUR = 3_600_000
const STATES = {
  healthy: "state = 'active', last_success_at = :at",
  flaky:
    "state = 'active', failures = 2, down_ms = 30500, hold_until_at = :at + 120000, last_failure_at = :at",
  failing: "state = 'failing', failures = 9, probes = 3, down_ms = 9000000, next_probe_at = :at + 240000",
  'paused-by-owner': "state = 'paused', reason = 'owner'",
  'paused-after-days':
    "state = 'paused', reason = 'five_days', failures = 140, probes = 125, down_ms = 432000001",
  gone: "state = 'disabled', reason = 'gone_410', gone_at = :at - 70000",
  'removed-from-config': "state = 'disabled', reason = 'config_removed', source = 'config'",
} as const
const APPLE_ENDPOINT = 'apple'

/** Adds endpoints, channels, widgets and a badge as the dashboard does, so that their secrets are sealed. */
export async function addOutgoing(app: Pick<TestApp, 'post' | 'signIn'>): Promise<void> {
  const session = await app.signIn()
  const added = async (path: string, body: object): Promise<void> => {
    const answer = await app.post(path, body, session)
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  }
  const url = 'https://backend.example/hooks'
  for (const name of Object.keys(STATES))
    await added('/api/v1/endpoints', {
      name,
      url,
      headers: { 'x-from': 'windfall' },
      ordered: name === 'flaky',
      ...(name === 'flaky' && { max_per_second: 5 }),
    })
  await added('/api/v1/endpoints', { name: APPLE_ENDPOINT, kind: 'apple', url })
  const ntfy = { settings: { topic: 'private-topic' }, secrets: {} }
  for (const name of ['working', 'waiting', 'dead', 'switched-off'])
    await added('/api/v1/alerts/channels', { name, kind: 'ntfy', ...ntfy })
  await added('/api/v1/widgets', { kind: 'widget', label: 'home', metrics: ['mrr'], apps: null })
  await added('/api/v1/widgets', { kind: 'badge', label: 'README', metrics: ['mrr'], apps: null })
}

const text = (value: string | null): string => (value === null ? 'null' : `'${value}'`)

type DeliveryRow = {
  state: string
  reason?: string
  attempts?: number
  failures?: number
  next_at?: number
  finished_at?: number
  body?: string
  key?: string
  replay_id?: string
  is_test?: number
}

/** A delivery of each kind, to each endpoint. Those that are finished have at least one attempt. */
const DELIVERIES: readonly DeliveryRow[] = [
  { state: 'waiting', next_at: AT },
  { state: 'waiting', next_at: AT + HOUR, attempts: 4, failures: 4, body: '{"type":"subscription.renewed"}' },
  { state: 'waiting', key: 'subject-1' },
  { state: 'delivered', attempts: 2, failures: 1, finished_at: AT, body: '{"type":"gap.found"}' },
  { state: 'delivered', attempts: 1, finished_at: AT, is_test: 1 },
  { state: 'failed', reason: 'exhausted', attempts: 10, failures: 10, finished_at: AT },
  { state: 'dropped', reason: 'filtered', finished_at: AT },
  { state: 'skipped', finished_at: AT },
  { state: 'delivered', attempts: 1, finished_at: AT, replay_id: 'rep_2' },
]

const deliverySql = (row: DeliveryRow): string => {
  const { state, reason = null, attempts = 0, failures = 0, next_at = null, finished_at = null } = row
  const { body = null, key = null, replay_id = null, is_test = 0 } = row
  const stored = body === null ? 'null' : `x'${deflateRawSync(body).toString('hex')}'`
  return `
  insert into deliveries (endpoint_id, replay_id, event_id, seq, type, environment, key, is_test, is_remade, state, reason,
      attempts, failures, next_at, body, body_bytes, occurred_at, created_at, finished_at)
    select endpoints.id, ${text(replay_id)}, events.id, events.seq, events.type, 'production', ${text(key)}, ${is_test}, 0,
      '${state}', ${text(reason)}, ${attempts}, ${failures}, ${next_at}, ${stored}, ${body?.length ?? null}, ${AT}, ${AT}, ${finished_at}
    from endpoints, (select * from events order by seq limit 1) as events
    where endpoints.kind = 'events' and ${replay_id === null ? 'true' : "endpoints.name = 'healthy'"};`
}

const SENDS: Readonly<Record<string, string>> = {
  waiting: `${AT + 1}, 0, null, null, null`,
  held: `${AT + HOUR}, 0, 'Quiet hours.', null, null`,
  sending: `${AT}, 1, null, null, null`,
  sent: `null, 1, null, null, ${AT}`,
  joined: `null, 0, 'Quiet hours.', 'alm_summary', ${AT}`,
  dropped: `null, 0, 'It was over before it could be sent.', null, ${AT}`,
  failed: `null, 3, 'The provider answered 403.', null, ${AT}`,
}

const sendSql = ([state, values]: [string, string]): string => `
  insert into alert_messages (id, organization_id, rule_id, kind, key, content, happened_at, created_at)
    select 'alm_${state}', organizations.id, 'alr_1', 'sale', 'sale/${state}',
      json_object('subject', json_object('about', 'event', 'template', 'sale', 'event_id', events.id, 'is_recovered', json('false'))),
      ${AT}, ${AT} from organizations, (select id from events order by seq limit 1) as events;
  insert into alert_sends (message_id, channel_id, state, due_at, attempts, words, summary_id, finished_at)
    select 'alm_${state}', id, '${state}', ${values} from alert_channels where name in ('working', 'waiting');`

/** Puts what `addOutgoing` added into every state. Needs the rows of `every_table.ts`. */
export const OUTGOING_STATES = [
  ...Object.entries(STATES).map(
    ([name, values]) =>
      `update endpoints set ${values.replaceAll(':at', String(AT))}, state_since = ${AT} where name = '${name}';`,
  ),
  `insert into replays (id, endpoint_id, source, filter, first, cursor, until, made, state, asked_by, created_at, finished_at)
    select 'rep_2', id, 'feed', '{}', 0, 2, 9, 2, 'running', 'owner', ${AT}, null from endpoints where name = 'healthy'
    union all select 'rep_3', id, 'failed', '{}', 0, 1, 9, 1, 'stopped', 'owner', ${AT}, ${AT} from endpoints where name = 'healthy';`,
  ...DELIVERIES.map(deliverySql),
  `insert into delivery_attempts (delivery_id, number, endpoint_id, at, ms, kind, status, words, address, excerpt, clock_ms, is_probe)
    select id, 1, endpoint_id, ${AT}, 12, iif(state = 'delivered', 'delivered', 'rejected'), iif(state = 'delivered', 200, 500),
      'The receiver answered.', '203.0.113.7', 'no', 250, 0 from deliveries where attempts > 0 and endpoint_id <> 'whe_1';`,
  `update alert_channels set next_at = ${AT + HOUR} where name = 'waiting';`,
  `update alert_channels set state = 'dead', reason = 'The provider answered 403.', last_failed_at = ${AT} where name = 'dead';`,
  `update alert_channels set state = 'disabled', reason = 'owner' where name = 'switched-off';`,
  `insert into alert_messages (id, organization_id, rule_id, kind, key, content, happened_at, created_at)
    select 'alm_summary', id, null, 'summary', 'summary/quiet', '{"subject":{"about":"summary","reason":"quiet"}}', ${AT}, ${AT}
    from organizations;`,
  ...Object.entries(SENDS).map(sendSql),
  `update widget_tokens set revoked_at = ${AT} where label = 'README';`,
].join('\n')
