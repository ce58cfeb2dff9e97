/** The stored messages and their sends. All writing functions must run inside a unit of work. */
import type { Clock } from '../../clock.ts'
import { newId } from '../../ids.ts'
import type { Store } from '../../store/store.ts'
import type { Content } from './content.ts'

/** A message. `key` says what it is about: no second message has the same key. Summaries and digests have no rule. */
export type Message = {
  id: string
  organization_id: string
  rule_id: string | null
  kind: string
  key: string
  content: Content
  happened_at: number
  created_at: number
}

type SendState = 'waiting' | 'held' | 'sending' | 'sent' | 'joined' | 'dropped' | 'failed'

/** A message to one channel. schema.sql documents the fields. */
export type Send = {
  message_id: string
  channel_id: string
  state: SendState
  due_at: number | null
  attempts: number
  words: string | null
  summary_id: string | null
  finished_at: number | null
}

type Row = Omit<Message, 'content'> & { content: string }
type NewMessage = Omit<Message, 'id' | 'created_at'>

export type Messages = ReturnType<typeof openMessages>

const FIELDS = 'id, organization_id, rule_id, kind, key, content, happened_at, created_at'

/** Opens the messages. */
export function openMessages(store: Pick<Store, 'prepare'>, clock: Clock) {
  const insert = store.prepare<Row>(`
    insert into alert_messages ( id,  organization_id,  rule_id,  kind,  key,  content,  happened_at,  created_at)
    values                     (:id, :organization_id, :rule_id, :kind, :key, :content, :happened_at, :created_at)
    on conflict (organization_id, key) do nothing`)
  const byId = store.prepare<[string], Row>(`select ${FIELDS} from alert_messages where id = ?`)
  const byKey = store.prepare<[string, string], Row>(
    `select ${FIELDS} from alert_messages where organization_id = ? and key = ?`,
  )
  const updateContent = store.prepare<[string, string]>('update alert_messages set content = ? where id = ?')

  /** Adds a message; null if its key has a message already. */
  function add(message: NewMessage): Message | null {
    const row = { ...message, id: newId('alm'), created_at: clock() }
    const { changes } = insert.run({ ...row, content: JSON.stringify(row.content) })
    return changes === 0 ? null : row
  }

  const get = (id: string): Message | null => messageOf(byId.get(id))

  /** The message with this key; null if there is none. */
  const find = (organization_id: string, key: string): Message | null =>
    messageOf(byKey.get(organization_id, key))

  const setContent = (id: string, content: Content): void =>
    void updateContent.run(JSON.stringify(content), id)

  return { add, get, find, setContent, ...openSends(store, clock), ...openBundles(store, clock) }
}

const messageOf = (row: Row | undefined): Message | null =>
  row === undefined ? null : { ...row, content: JSON.parse(row.content) }

/** After so many failures a message lets those after it try. Otherwise one that its provider never takes would be ahead of them. */
const ATTEMPTS_IN_TURN = 3

function openSends(store: Pick<Store, 'prepare'>, clock: Clock) {
  const insert = store.prepare<[string, string, number]>(`
    insert into alert_sends (message_id, channel_id, state, due_at, attempts) values (?, ?, 'waiting', ?, 0)
    on conflict (message_id, channel_id) do nothing`)
  const selectDue = store.prepare<{ now: number; far: number; except: string; limit: number }, Send>(`
    select alert_sends.* from alert_sends cross join alert_messages on id = message_id
    where due_at is not null and (due_at <= :now or due_at > :far)
      and channel_id not in (select value from json_each(:except))
    order by due_at > :far, attempts / ${ATTEMPTS_IN_TURN}, created_at, alert_messages.rowid limit :limit`)
  const selectOne = store.prepare<[string, string], Send>(
    'select * from alert_sends where message_id = ? and channel_id = ?',
  )
  const ofMessage = store.prepare<[string], Send>(
    'select * from alert_sends where message_id = ? order by channel_id',
  )
  const repeat = store.prepare<{ now: number; words: string }>(
    "update alert_sends set state = 'waiting', due_at = :now, words = :words where state = 'sending'",
  )
  const update = store.prepare<Send>(`
    update alert_sends set state = :state, due_at = :due_at, attempts = :attempts, words = :words,
      summary_id = :summary_id, finished_at = :finished_at
    where message_id = :message_id and channel_id = :channel_id`)
  /** Adds a send of a message to a channel, due at an instant. Idempotent. */
  const addSend = (message_id: string, channel_id: string, due_at: number): void =>
    void insert.run(message_id, channel_id, due_at)

  /**
   * The sends that are due, those of the oldest message first unless it failed several times, at most `limit`, without those of the channels `except`. One that is more
   * than `longest_ms` ahead was computed before the clock was set back, and is due too, after the others.
   */
  const due = (limit: number, longest_ms: number, except: readonly string[] = []): Send[] =>
    selectDue.all({ now: clock(), far: clock() + longest_ms, except: JSON.stringify(except), limit })

  const send = (message_id: string, channel_id: string): Send | null =>
    selectOne.get(message_id, channel_id) ?? null

  /** Changes a send. */
  const change = (from: Send, fields: Partial<Send>): void => void update.run({ ...from, ...fields })

  /** Ends a send. `words` says why, or null if it needs no reason. */
  const finish = (from: Send, state: 'sent' | 'dropped' | 'failed', words: string | null): void =>
    change(from, { state, words, due_at: null, finished_at: clock() })

  return {
    addSend,
    due,
    send,
    sendsOf: (message_id: string): Send[] => ofMessage.all(message_id),
    change,
    finish,
    /** Lets a summary contain a message. */
    join: (from: Send, summary_id: string, words: string): void =>
      change(from, { state: 'joined', words, summary_id, due_at: null, finished_at: clock() }),
    /** Makes the sends due that the end of the process interrupted. Their providers may have them. */
    repeatInterrupted: (): void => void repeat.run({ now: clock(), words: 'Sent once more after a stop.' }),
  }
}

/** Reads and changes what decides whether messages are sent together. */
function openBundles(store: Pick<Store, 'prepare'>, clock: Clock) {
  const makeDue = store.prepare<{ now: number; organization_id: string }>(`
    update alert_sends set due_at = :now
    where due_at > :now and state in ('waiting', 'held') and message_id in (
      select id from alert_messages where organization_id = :organization_id and (kind = 'digest'
        or (kind = 'summary' and (content ->> '$.subject.reason') in ('quiet', 'muted'))))`)
  const selectMembers = store.prepare<[string], { message_id: string }>(`
    select message_id from alert_sends join alert_messages on id = message_id
    where summary_id = ? order by happened_at, message_id`)
  const selectRules = store.prepare<[string], { rule_id: string | null }>(`
    select distinct rule_id from alert_sends join alert_messages on id = message_id where summary_id = ?`)
  const sentSince = store.prepare<[string, string, number, number], { count: number }>(`
    select count(*) as count from alert_sends
    where channel_id = ? and state = 'sent'
      and message_id in (select id from alert_messages where rule_id = ?) and finished_at > ? and finished_at <= ?`)
  const openSummaries = store.prepare<[string, string, string], Send>(`
    select alert_sends.* from alert_sends join alert_messages on id = message_id
    where channel_id = ? and finished_at is null and state in ('waiting', 'held')
      and kind = 'summary' and substr(key, 1, length(?)) = ?
    order by due_at desc limit 1`)
  const newestSummary = store.prepare<[string, string, string, number], { finished_at: number }>(`
    select finished_at from alert_sends join alert_messages on id = message_id
    where channel_id = ? and state = 'sent' and kind = 'summary' and substr(key, 1, length(?)) = ?
      and finished_at <= ?
    order by finished_at desc limit 1`)

  return {
    /** The ids of the messages that of a summary, oldest first. */
    members: (summary_id: string): string[] =>
      selectMembers.all(summary_id).map(({ message_id }) => message_id),
    /** The ids of the rules whose messages a summary has. */
    rulesIn: (summary_id: string): (string | null)[] =>
      selectRules.all(summary_id).map(({ rule_id }) => rule_id),
    /** How many messages of a rule a channel got since an instant. */
    sentSince: (channel_id: string, rule_id: string, since: number): number =>
      // What was sent while the clock was ahead does not count.
      sentSince.get(channel_id, rule_id, since, clock())?.count ?? 0,
    /** The newest summary of a channel that has not been sent yet and whose key begins with a text. */
    openSummary: (channel_id: string, prefix: string): Send | null =>
      openSummaries.get(channel_id, prefix, prefix) ?? null,
    /** When the newest summary of a channel whose key begins with a text was sent; null if none was. */
    summarySentAt: (channel_id: string, prefix: string): number | null =>
      newestSummary.get(channel_id, prefix, prefix, clock())?.finished_at ?? null,
    /** Makes the summaries and digests due that wait for the end of quiet hours or of a mute, because it may have changed. */
    makeSilencedDue: (organization_id: string): void => void makeDue.run({ now: clock(), organization_id }),
  }
}
