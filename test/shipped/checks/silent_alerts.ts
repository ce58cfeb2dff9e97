/** Finds the events that a rule should have reported, and did not, and the channels that their messages do not go to. */
import type Database from 'better-sqlite3'
import { TEMPLATES } from '../../../src/alerts/rules/templates.ts'
import { decodeBody } from '../../../src/events/codec.ts'

type Rule = { id: string; name: string; template: string; types: string; created_at: number }
type Event = { id: string; seq: number; type: string; app_id: string; environment: string; body: Buffer }
type Body = {
  money?: { price_milli: number } | null
  transaction?: { transaction_id?: string; ownership?: string; offer_discount?: string }
}

/** Rules about events, but those that compare with what was before, or with an amount. */
const PLAIN = TEMPLATES.filter(
  ({ name, basis, defaults }) =>
    ['sale', 'event'].includes(basis) && name !== 'first_in_country' && defaults.minimum_milli === undefined,
)
/** Events that are about the same payment, or the same refund. Each other event has a message of its own. */
const PAYMENT =
  /^(transaction\.recorded|trial\.(started|converted)|subscription\.(started|renewed|resubscribed|recovered|upgraded|offer_redeemed)|purchase\.made)$/
const REFUND = /^(subscription|purchase)\.refunded$/

/** Returns what is wrong with the messages about events that were recorded before `until` (ms). */
export function silentRules(db: Database.Database, until: number): string[] {
  const known = new Set(db.prepare<[], string>('select key from alert_messages').pluck().all())
  return [
    ...rulesIn(db).flatMap((rule) => silentOf(db, rule, known, until)),
    ...withoutSends(db),
    ...onlyDropped(db),
  ]
}

const rulesIn = (db: Database.Database): Rule[] =>
  PLAIN.flatMap(({ name, types }) =>
    db
      .prepare<{ name: string; types: string }, Rule>(
        `select id, name, template, coalesce(settings ->> '$.types', :types) as types, created_at from alert_rules
         where template = :name and is_on = 1 and deleted_at is null`,
      )
      .all({ name, types: JSON.stringify(types) }),
  )

/** The events that a rule is about and that have no message. */
function silentOf(db: Database.Database, rule: Rule, known: ReadonlySet<string>, until: number): string[] {
  const events = db
    .prepare<object, Event>(
      `select id, seq, type, app_id, environment, body from events
       where type in (select value from json_each(:types)) and origin <> 'backfill' and environment = 'production'
         and recorded_at > :created_at and recorded_at < :until`,
    )
    .all({ types: rule.types, created_at: rule.created_at, until })
  return events.flatMap((event) => {
    const body = decodeBody(event.body) as Body
    const isSale = rule.template !== 'sale' || (body.money?.price_milli ?? 0) > 0
    const isReported = isSale && body.transaction?.ownership !== 'FAMILY_SHARED'
    return isReported && !known.has(`${rule.id}/${subjectOf(event, body)}`)
      ? [`the rule ${rule.name} is silent about ${event.type} ${event.id} (${event.seq})`]
      : []
  })
}

/** What a message about an event is about, as the end of its key. */
function subjectOf({ id, type, app_id, environment }: Event, { transaction }: Body): string {
  const isRefund = REFUND.test(type)
  if (transaction?.transaction_id === undefined || !(isRefund || PAYMENT.test(type))) return id
  const isTrial =
    type === 'trial.started' ||
    (type === 'transaction.recorded' && transaction.offer_discount === 'FREE_TRIAL')
  return `${isRefund ? 'refund/' : isTrial ? 'trial/' : ''}${app_id}/${environment}/${transaction.transaction_id}`
}

/** Messages of rules for all channels that one of these channels does not get. */
const withoutSends = (db: Database.Database): string[] =>
  db
    .prepare<[], string>(
      `select alert_messages.id || ' does not go to ' || alert_channels.name
       from alert_messages join alert_rules on alert_rules.id = rule_id
         join alert_channels on alert_channels.organization_id = alert_messages.organization_id
       where channels is null and content ->> '$.subject.about' = 'event'
         and alert_channels.created_at < alert_messages.created_at and alert_channels.deleted_at is null
         and not exists (select 1 from alert_sends where message_id = alert_messages.id and channel_id = alert_channels.id)`,
    )
    .pluck()
    .all()

/** What is about the same, of which each rule says that another reports it. */
const onlyDropped = (db: Database.Database): string[] =>
  db
    .prepare<[], string>(
      `select substr(key, instr(key, '/') + 1) || ' is reported by no rule to ' || alert_channels.name
       from alert_sends join alert_messages on alert_messages.id = message_id
         join alert_channels on alert_channels.id = channel_id
       where content ->> '$.subject.about' = 'event'
       group by substr(key, instr(key, '/') + 1), channel_id
       having min(coalesce(words like 'The rule “%', 0)) = 1`,
    )
    .pluck()
    .all()
