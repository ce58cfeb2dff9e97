/** Decides what happens to a message that is due: it is sent, waits, joins a summary, or is dropped. */
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { type Calendar, openCalendar } from '../../metrics/lineage/calendar.ts'
import type { Channel, Channels } from '../channels/channels.ts'
import { LONGEST_WAIT_MS } from '../channels/http_channel.ts'
import type { SummaryReason } from '../messages/content.ts'
import type { Message, Messages, Send } from '../messages/messages.ts'
import type { Rule, Rules } from '../rules/rules.ts'
import type { AlertSettingsStore } from '../settings.ts'
import { allQuietUntil, quietHoursOf } from './quiet_hours.ts'
import { openRepetitions } from './repetitions.ts'

/** A message about a sale that could not be sent for this long joins a summary. */
const LATE_MS = 30 * 60_000
const LATE = 'It could not be sent for 30 minutes.'
const RECOVERED = 'Apple signed it more than an hour before it arrived.'
const HOUR_MS = 3_600_000
/** What is above the limit of a rule is first summed after this time. */
const FIRST_SUM_MS = 5 * 60_000
/** Recovered messages are collected until this long after the last one. */
const COLLECT_MS = 60_000

/** `send`: now. The others change the send. */
type Route =
  | { kind: 'send'; channel: Channel }
  | { kind: 'wait'; due_at: number; words: string }
  | { kind: 'join'; reason: SummaryReason; due_at: number; key: string; words: string }
  | { kind: 'drop'; words: string }

type Deps = {
  clock: Clock
  organizations: Pick<Organizations, 'get'>
  channels: Pick<Channels, 'get'>
  rules: Pick<Rules, 'get' | 'list'>
  messages: Messages
  settings: AlertSettingsStore
  /** Whether a finding is still reported. */
  isOpen: (organization_id: string, finding_id: string) => boolean
}

export type Routing = ReturnType<typeof openRouting>

/** Opens the decision. */
export function openRouting(deps: Deps) {
  const { clock, channels, rules, messages } = deps
  const quietEnd = openQuietEnd(deps)
  const joinOpen = openJoining(messages)
  const tellingRule = openRepetitions({ rules, messages })

  /** What to do with a send now, while nothing else is being sent to its channel. Reads only. */
  function routeOf(send: Send, message: Message): Route {
    const channel = channels.get(send.channel_id)
    if (channel === null) return drop('The channel was removed.')
    if (channel.state !== 'active')
      return drop(`The channel does not work: ${channel.reason ?? channel.state}`)
    return (
      outdated(deps, send, message) ??
      repeatedBy(tellingRule(send, message)) ??
      silenced(channel, message) ??
      bundled(send, message, channel) ??
      whenReady(channel, clock())
    )
  }

  /** Mute and quiet hours. Summaries and digests wait for their end; other messages join a summary. */
  function silenced(channel: Channel, message: Message): Route | null {
    const end = quietEnd(message)
    if (end === null) return null
    const words = end.reason === 'muted' ? 'Alerts are muted.' : 'Quiet hours.'
    if (message.kind === 'summary' || message.kind === 'digest')
      return { kind: 'wait', due_at: end.at, words }
    // A mute that is made longer or shorter has one summary. Quiet hours of rules can end at different times.
    return end.reason === 'muted'
      ? joinOpen(channel, 'muted', end.at, words)
      : joinInto(channel, 'quiet', { due_at: end.at, key: String(end.at), words })
  }

  /** Messages that come late, from Apple's history, or more often than the rule allows. */
  function bundled(send: Send, message: Message, channel: Channel): Route | null {
    const { subject } = message.content
    if (subject.about === 'event') {
      if (subject.is_recovered) return joinOpen(channel, 'recovered', clock() + COLLECT_MS, RECOVERED)
      if (clock() - message.created_at > LATE_MS) return joinOpen(channel, 'late', clock(), LATE)
    }
    const limit = rules.get(message.rule_id ?? '')?.settings.per_hour ?? null
    if (limit === null || subject.about === 'finding' || message.rule_id === null || send.attempts > 0)
      return null
    const count = messages.sentSince(channel.id, message.rule_id, clock() - HOUR_MS)
    if (count < limit) return null
    return joinOpen(
      channel,
      'hourly',
      rushEnd(deps, channel),
      `The rule sent ${count} messages within an hour.`,
    )
  }

  return { routeOf }
}

/** Returns the function that joins the open summary of a reason. */
function openJoining(messages: Pick<Messages, 'openSummary' | 'get'>) {
  /** Joins the summary of this reason that is not sent yet, or begins one. */
  return (channel: Channel, reason: SummaryReason, due_at: number, words: string): Route => {
    const open = messages.openSummary(channel.id, prefixOf(channel, reason))
    const known = open === null ? null : messages.get(open.message_id)
    if (known === null) return joinInto(channel, reason, { due_at, key: String(due_at), words })
    return { kind: 'join', reason, due_at, key: known.key, words }
  }
}

/**
 * A channel whose provider asked to wait is not used before that. A longer wait than a provider may ask for is of a clock
 * that was ahead.
 */
const whenReady = (channel: Channel, now: number): Route =>
  channel.next_at !== null && channel.next_at > now && channel.next_at <= now + LONGEST_WAIT_MS
    ? { kind: 'wait', due_at: channel.next_at, words: 'The provider asked to wait.' }
    : { kind: 'send', channel }

const drop = (words: string): Route => ({ kind: 'drop', words })

/** One payment is one message, whatever the number of rules that it meets. */
const repeatedBy = (rule: string | null): Route | null =>
  rule === null ? null : drop(`The rule “${rule}” reports it.`)

/** When the messages above the limit of a rule are summed: a few minutes after a rush began, then hourly. */
function rushEnd({ clock, messages }: Pick<Deps, 'clock' | 'messages'>, channel: Channel): number {
  const summed_at = messages.summarySentAt(channel.id, prefixOf(channel, 'hourly'))
  const isGoingOn = summed_at !== null && clock() - summed_at < HOUR_MS
  return isGoingOn ? summed_at + HOUR_MS : clock() + FIRST_SUM_MS
}

const prefixOf = (channel: Channel, reason: SummaryReason): string => `summary/${channel.id}/${reason}/`

const joinInto = (
  channel: Channel,
  reason: SummaryReason,
  { due_at, key, words }: { due_at: number; key: string; words: string },
): Route => ({ kind: 'join', reason, due_at, key: prefixOf(channel, reason) + key, words })

/** What to do with a message about a finding that is no longer worth sending; null if it is. */
function outdated({ messages, isOpen }: Deps, send: Send, message: Message): Route | null {
  const { subject } = message.content
  if (subject.about !== 'finding') return null
  const { organization_id } = message
  if (subject.state === 'began')
    return isOpen(organization_id, subject.finding.id) ? null : drop('It was over before it could be sent.')
  if (subject.state === 'flapping') return null
  const began = messages.find(organization_id, message.key.replace(/^ended\//, 'began/'))
  const state = began && messages.send(began.id, send.channel_id)?.state
  return state === 'sent' || state === 'joined' ? null : drop('Its beginning was not sent.')
}

/** Returns the function that finds when the mute or the quiet hours for a message end; null if there are none now. */
function openQuietEnd({ clock, organizations, settings, rules, messages }: Deps) {
  const calendars = new Map<string, Calendar>()

  function calendarOf(organization_id: string): Calendar {
    const zone = organizations.get(organization_id)?.time_zone ?? 'UTC'
    const calendar = calendars.get(zone) ?? openCalendar(zone)
    calendars.set(zone, calendar)
    return calendar
  }

  return (message: Message): { reason: 'muted' | 'quiet'; at: number } | null => {
    const { organization_id } = message
    const { quiet, muted_until } = settings.get(organization_id)
    if (muted_until !== null && muted_until > clock()) return { reason: 'muted', at: muted_until }
    const rule = rules.get(message.rule_id ?? '')
    if (isPiercing(rule, message)) return null
    // A summary keeps the quiet hours of every rule whose messages it has.
    const ruleIds = message.kind === 'summary' ? messages.rulesIn(message.id) : [message.rule_id]
    const hours = ruleIds.flatMap((id) => hoursOf(rules.get(id ?? ''), quiet) ?? [])
    const at = allQuietUntil(hours, calendarOf(organization_id), clock())
    return at === null ? null : { reason: 'quiet', at }
  }
}

type Wall = { from: string; until: string }

function hoursOf(rule: Rule | null, organizationHours: Wall | null) {
  const own = rule?.settings.quiet ?? 'organization'
  const wall = own === 'organization' ? organizationHours : own === 'none' ? null : own
  return wall && quietHoursOf(wall)
}

/** Whether a message is sent in quiet hours: a fault of a rule that permits it. */
function isPiercing(rule: Rule | null, { content: { subject } }: Message): boolean {
  return (
    subject.about === 'finding' && subject.finding.level === 'fault' && rule?.settings.pierces_quiet === true
  )
}
