/** Defines what every kind of channel provides: the checks of its settings, its limits, and sending a message. */
import type * as v from 'valibot'
import type { FieldError } from '../../errors.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import type { OutgoingRequest } from '../../outgoing/requests.ts'
import type { Urgency } from '../messages/content.ts'
import type { Vapid } from './web_push/vapid.ts'

/**
 * A message for people, as plain text without a provider's markup. Names and attributes in it are untrusted.
 *
 * `tag` is the same for each attempt, and for messages that replace one another on a phone. `url` is what a tap opens.
 * `at` is when it happened, in ms since the epoch. `is_payment`: whether it is about one payment. `fields` are shown where a provider has a place for them. `badge` is the
 * number of findings that need the owner.
 */
export type ChannelMessage = Readonly<{
  id: string
  tag: string
  title: string
  body: string
  url: string
  urgency: Urgency
  is_payment: boolean
  at: number
  badge: number
  fields: readonly Readonly<{ label: string; value: string }>[]
}>

/**
 * The result of sending. `sent`: the provider accepted it, and takes the next one after `wait_ms`; `words` say whom it did
 * not reach. `retry`: try again, after `after_ms` if the provider said so.
 * `refused`: this message cannot be sent; others can. `dead`: the channel no longer works. `gone`: the device unsubscribed,
 * and is removed. `words` are whole sentences
 * with the provider's own reason and what to do.
 */
export type SendResult =
  | Readonly<{ kind: 'sent'; wait_ms?: number; words?: string }>
  | Readonly<{ kind: 'retry'; words: string; after_ms: number | null }>
  | Readonly<{ kind: 'refused'; words: string }>
  | Readonly<{ kind: 'dead'; words: string }>
  | Readonly<{ kind: 'gone'; words: string }>

/** At most `count` messages in `per_ms` milliseconds. */
export type RateLimit = Readonly<{ count: number; per_ms: number }>

/**
 * What a channel sends with. `signal` aborts when the time of the call is over, and at the stop of the server: the connection must close
 * then. `mute_url`: where a POST mutes alerts for an hour, once; null for a test, and if no phone reaches this server.
 */
export type SendContext = Readonly<{
  dispatcher: Pick<Outgoing['dispatcher'], 'request' | 'connect' | 'ca'>
  signal: AbortSignal
  vapid: Pick<Vapid, 'signing' | 'note'>
  mute_url: string | null
}>

/**
 * A kind of channel. `settings` are shown to the owner; `secrets` are sealed and never shown or logged. `conflictOf` says
 * what is wrong with both together, at a path that begins with `settings.` or `secrets.`; null if nothing is. `accountOf`
 * identifies the account of the provider that `limitsOf` counts for, without containing a secret. `addressOf` is what the
 * channel sends to in words, without a secret.
 */
export type ChannelKind<Settings extends object, Secrets extends object> = Readonly<{
  kind: string
  settings: v.GenericSchema<unknown, Settings>
  secrets: v.GenericSchema<unknown, Secrets>
  conflictOf?: (settings: Settings, secrets: Secrets) => FieldError | null
  limitsOf: (settings: Settings) => readonly RateLimit[]
  accountOf: (settings: Settings, secrets: Secrets) => string
  addressOf: (settings: Settings) => string
  send: (
    message: ChannelMessage,
    channel: Readonly<{ settings: Settings; secrets: Secrets }>,
    context: SendContext,
  ) => Promise<SendResult>
}>

/** The request of a channel that sends one HTTP request for each message. */
export type ChannelRequest = Pick<OutgoingRequest, 'url' | 'method' | 'headers' | 'body'>
