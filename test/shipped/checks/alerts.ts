/** Compares the alerts in a database with what the providers accepted. */
import type Database from 'better-sqlite3'
import { oneLine } from '../../../src/alerts/channels/texts.ts'
import { topicOf } from '../../../src/alerts/channels/web_push/payload.ts'
import type { Content } from '../../../src/alerts/messages/content.ts'
import type { Stop } from '../program.ts'
import type { Accepted } from '../world/phones.ts'
import { isInterrupted } from './interrupted.ts'
import { silentRules } from './silent_alerts.ts'

/** A message on its way to a channel, which is named like the provider in `world/phones.ts`. */
type Send = {
  message_id: string
  channel: string
  channel_id: string
  key: string
  content: string
  state: string
  words: string | null
  due_at: number | null
  summary_id: string | null
}

/** Returns what is wrong with the alerts. `until`: rules must have reported what was recorded before this instant (ms). */
export function faultsOfAlerts(
  db: Database.Database,
  accepted: readonly Accepted[],
  { stops, until }: { stops: readonly Stop[]; until: number },
): string[] {
  const sends = db
    .prepare<[], Send>(
      `select message_id, name as channel, channel_id, key, content, alert_sends.state, words, due_at, summary_id
       from alert_sends join alert_channels on alert_channels.id = channel_id
       join alert_messages on alert_messages.id = message_id`,
    )
    .all()
  const byChannel = Map.groupBy(sends, ({ channel }) => channel)
  const gotByChannel = Map.groupBy(accepted, ({ channel }) => channel)
  const channels = new Set([...byChannel.keys(), ...gotByChannel.keys()])
  return [
    ...[...channels].flatMap((channel) => {
      const own = byChannel.get(channel) ?? []
      const got = gotByChannel.get(channel) ?? []
      return [...unexplainedIn(own), ...differencesIn(own, got, stops)].map(
        (fault) => `alerts to ${channel}: ${fault}`,
      )
    }),
    ...silentRules(db, until),
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

/** What a provider gets that identifies a message: its id, its topic, or else its words, which several messages can have. */
function identityOf({ channel, message_id, key, content }: Send): string {
  if (channel === 'push') return topicOf(key)
  const { text } = JSON.parse(content) as Content
  if (channel === 'telegram') return `${text?.shown.title}\n${text?.shown.body}`
  if (channel === 'ntfy')
    return `${oneLine(text?.shown.title ?? '')}\n${text?.shown.body || text?.shown.title}`
  return message_id
}

/** A message that is being sent when the process is killed is sent once more; others are sent once. */
function differencesIn(sends: readonly Send[], got: readonly Accepted[], stops: readonly Stop[]): string[] {
  const sentOf = Map.groupBy(
    sends.filter(({ state }) => state === 'sent'),
    identityOf,
  )
  const gotOf = Map.groupBy(got, ({ id }) => id)
  return [...new Set([...sentOf.keys(), ...gotOf.keys()])].flatMap((id) => {
    const sent = sentOf.get(id)?.length ?? 0
    const arrived = gotOf.get(id) ?? []
    const interrupted = arrived.filter((one) => isInterrupted(one, stops)).length
    const times = arrived.map(({ at }) => new Date(at).toISOString().slice(11, 23)).join(', ')
    if (arrived.length < sent)
      return [`${id} is sent ${sent} times, and arrived only ${arrived.length} times`]
    if (arrived.length > sent + interrupted)
      return [`${id} is sent ${sent} times, and arrived ${arrived.length} times: ${times}`]
    return []
  })
}
