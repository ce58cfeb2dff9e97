/** Compares the alerts in a database with what the providers accepted. */
import type Database from 'better-sqlite3'
import { decodeBody } from '../../../src/events/codec.ts'
import type { Stop } from '../program.ts'
import type { Accepted } from '../world/phones.ts'

type Send = {
  message_id: string
  channel: string
  state: string
  attempts: number
  words: string | null
  due_at: number | null
  summary_id: string | null
}
type Event = { id: string; body: Buffer; seq: number }

/** A call of a provider that began this long before a stop may have been under way. */
const UNDER_WAY_MS = 5_000
/** The channels whose providers get the id of a message. */
const WITH_IDS = ['hook', 'mail']

const isInterrupted = (at: number, stops: readonly Stop[]): boolean =>
  stops.some(({ from, until }) => at >= from - UNDER_WAY_MS && at <= until)

/** Returns what is wrong with the alerts. `until`: sales recorded before this instant must have been told, in ms. */
export function faultsOfAlerts(
  db: Database.Database,
  accepted: readonly Accepted[],
  { stops, until }: { stops: readonly Stop[]; until: number },
): string[] {
  const sends = db
    .prepare<[], Send>(
      `select message_id, name as channel, alert_sends.state, attempts, words, due_at, summary_id
       from alert_sends join alert_channels on alert_channels.id = channel_id`,
    )
    .all()
  const byChannel = Map.groupBy(sends, ({ channel }) => channel)
  const gotByChannel = Map.groupBy(accepted, ({ channel }) => channel)
  return [
    ...[...byChannel].flatMap(([channel, own]) =>
      [
        ...unexplainedIn(own),
        ...(WITH_IDS.includes(channel)
          ? differencesById(own, gotByChannel.get(channel) ?? [], stops)
          : differencesByCount(own, gotByChannel.get(channel) ?? [], stops)),
      ].map((fault) => `alerts to ${channel}: ${fault}`),
    ),
    ...silentSales(db, until),
  ]
}

/** Messages that wait for nothing, or ended without words. */
const unexplainedIn = (sends: readonly Send[]): string[] =>
  sends.flatMap((send) => {
    const { message_id, state, words } = send
    return isExplained(send) ? [] : [`${message_id} is ${state}: ${words}`]
  })

function isExplained({ state, words, due_at, summary_id }: Send): boolean {
  switch (state) {
    case 'sent':
    case 'sending':
      return true
    case 'waiting':
    case 'held':
      return due_at !== null
    case 'joined':
      return summary_id !== null
    default:
      return state === 'dropped' && words !== null
  }
}

/** A message that is marked as being sent when the process stops is sent once more; others are sent once. */
function differencesById(sends: readonly Send[], got: readonly Accepted[], stops: readonly Stop[]): string[] {
  const gotById = Map.groupBy(got, ({ id }) => id)
  const sent = sends.filter(({ state }) => state === 'sent')
  const known = new Set(sends.map(({ message_id }) => message_id))
  return [
    ...sent.flatMap(({ message_id }) =>
      gotById.has(message_id) ? [] : [`${message_id} is sent, and did not arrive`],
    ),
    ...[...gotById].flatMap(([id, all]) => {
      // Tests of a channel are no messages.
      if (!known.has(id)) return []
      const repeats = all.length - 1
      const interruptions = all.filter(({ at }) => isInterrupted(at, stops)).length
      return repeats > interruptions ? [`${id} arrived ${all.length} times`] : []
    }),
  ]
}

/** The same where the provider gets only a text: as many arrive as were sent. */
function differencesByCount(
  sends: readonly Send[],
  got: readonly Accepted[],
  stops: readonly Stop[],
): string[] {
  const sent = sends.filter(({ state }) => state === 'sent').length
  const interrupted = got.filter(({ at }) => isInterrupted(at, stops)).length
  const isRight = got.length >= sent && got.length <= sent + interrupted
  return isRight ? [] : [`${sent} are sent, and ${got.length} arrived`]
}

/** The sales that the rule of all sales does not know. */
function silentSales(db: Database.Database, until: number): string[] {
  const known = new Set(
    db
      .prepare<[], string>('select key from alert_messages')
      .pluck()
      .all()
      .map((key) => key.split('/').at(-1)),
  )
  const events = db
    .prepare<[number], Event>(
      `select id, seq, body from events where type = 'transaction.recorded' and origin = 'live'
       and environment = 'production' and recorded_at < ?`,
    )
    .all(until)
  return events.flatMap(({ id, seq, body }) => {
    const { money, transaction } = decodeBody(body) as {
      money?: { price_milli: number } | null
      transaction?: { transaction_id: string; ownership?: string }
    }
    const isSale = (money?.price_milli ?? 0) > 0 && transaction?.ownership !== 'FAMILY_SHARED'
    const isKnown = known.has(transaction?.transaction_id)
    return isSale && !isKnown ? [`the sale ${id} (${seq}) alerted nobody`] : []
  })
}
