/** Sends one message to one channel: fixes its text, marks it, calls the provider, and stores the result. */
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { OutgoingError } from '../../outgoing/failures.ts'
import { SecretUnreadable } from '../../outgoing/sealing.ts'
import type { Store } from '../../store/store.ts'
import type { ChannelMessage, SendContext, SendResult } from '../channels/channel.ts'
import type { Channel, Channels } from '../channels/channels.ts'
import { kindOf } from '../channels/kinds.ts'
import type { Text, Words } from '../messages/content.ts'
import type { Message, Messages, Send } from '../messages/messages.ts'
import { TEST_TEXT, type Texts } from '../messages/text.ts'
import type { BackOff } from './back_off.ts'
import type { Buckets } from './buckets.ts'
import type { MuteAddresses } from './mute_addresses.ts'
import { isOfStorage, noteTest, noteUnsendable, openResults } from './results.ts'

/** A message about trouble that is sent this long after it happened tells its time. */
const LATE_MS = 10 * 60_000
const TIME_FORMAT = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const
const NOTHING_LEFT = 'What the message is about does not exist any more.'
/** How long a stop waits for requests that run. */
const CLOSE_MS = 3_000
/** How long the call of a provider may take as a whole: one that answers bit by bit is never idle. */
const CALL_MS = 45_000

type Deps = {
  store: Store
  clock: Clock
  log: Log
  organizations: Pick<Organizations, 'get'>
  channels: Channels
  messages: Messages
  texts: Texts
  buckets: Buckets
  backOff: BackOff
  dispatcher: SendContext['dispatcher']
  baseUrl: () => string
  vapid: SendContext['vapid']
  muteAddresses: Pick<MuteAddresses, 'prepare' | 'addressOf'>
  /** The number of findings of an organization that are announced and not over. */
  countOpen: (organization_id: string) => number
}

export type Attempts = ReturnType<typeof openAttempts>

/** Opens the attempts. */
export function openAttempts(deps: Deps) {
  const { store, messages, backOff } = deps
  const closing = new AbortController()
  const running = new Set<Promise<void>>()
  let isClosing = false
  const fix = openFixing(deps)
  const mark = openMarking(deps)
  const storeResult = openResults(deps)
  const { call, sendTest, waitOf } = openCalls(deps, closing.signal)

  /**
   * Sends a message once. Resolves when the result is stored; at once during a stop. A message whose text cannot be made, or
   * whose result cannot be stored, has failed.
   *
   * @throws what keeps the database from being read or written
   */
  function attempt(message: Message, send: Send, channel: Channel): Promise<void> {
    const work = sendOnce(message, send, channel)
      .catch((error: unknown) => {
        if (isOfStorage(error)) throw error
        return store.commit(() => noteUnsendable(deps, send, error))
      })
      .finally(() => running.delete(work))
    running.add(work)
    return work
  }

  async function sendOnce(message: Message, send: Send, channel: Channel): Promise<void> {
    const attempts = send.attempts + 1
    let text: Text | null
    do {
      text = await fix(message.id)
      if (text === null) return store.commit(() => messages.finish(send, 'dropped', NOTHING_LEFT))
      // Nothing begins during a stop: the next start sends what waits.
      if (isClosing) return
    } while (!(await mark(send, attempts)))
    const result = await call(channel, message, text)
    // After a stop nobody knows whether the provider has the message: it stays marked, and is sent once more.
    if (closing.signal.aborted && result.kind === 'retry') return
    await store.commit(() => storeResult(message, { ...send, attempts }, channel, result))
    // A provider that says when it takes the next message works.
    if (result.kind === 'retry' && result.after_ms === null) backOff.failed(channel.id)
    else backOff.forget(channel.id)
  }

  /** Begins nothing more, gives running requests a moment to end, then aborts them. */
  async function close(): Promise<void> {
    isClosing = true
    const stop = () => closing.abort(new Error('Windfall is stopping'))
    const timer = setTimeout(stop, CLOSE_MS)
    await Promise.allSettled(running)
    clearTimeout(timer)
    stop()
  }

  return { attempt, test: openTest(deps, sendTest), waitOf, close }
}

/** Returns the function that tests a channel. */
function openTest(deps: Deps, sendTest: (channel: Channel) => Promise<SendResult>) {
  /**
   * Sends a test message to a channel now, whatever its state, the quiet hours and the mute are. A channel that did not
   * work and accepts it works again.
   */
  return async (channel: Channel): Promise<SendResult> => {
    const result = await sendTest(channel)
    await deps.store.commit(() => noteTest(deps, channel, result))
    if (result.kind === 'sent') deps.backOff.forget(channel.id)
    return result
  }
}

/** Opens the calls of providers. */
function openCalls(deps: Deps, signal: AbortSignal) {
  const { clock, organizations, channels, buckets, baseUrl, muteAddresses, countOpen } = deps
  const sendTo = openProviderCall(deps, signal)

  /** How long a message to a channel must wait for the limits of its provider, in milliseconds; 0 counts one. */
  function waitOf(channel: Channel): number {
    const kind = kindOf(channel.kind)
    try {
      const account = kind.accountOf(channel.settings, channels.secretsOf(channel))
      return buckets.take(`${channel.kind}/${account}`, kind.limitsOf(channel.settings))
    } catch {
      // Sending fails for the same reason, and stores it. The other channels go on.
      return 0
    }
  }

  /** Sends a message in the form of a channel. Never rejects. */
  function call(channel: Channel, message: Message, text: Text): Promise<SendResult> {
    const { id, key, happened_at } = message
    const words = withTime(message, channel.hides_amounts ? text.hidden : text.shown)
    const url = `${baseUrl()}${text.path}`
    const badge = countOpen(channel.organization_id)
    const { urgency, tally } = text
    const is_payment = tally?.kind === 'sale' && tally.milli !== 0
    const sent = { ...words, id, tag: key, url, urgency, is_payment, at: happened_at, badge }
    return sendTo(channel, sent, muteAddresses.addressOf(id, channel.id))
  }

  /** The words of a message, with its time if it is about trouble and late. */
  function withTime({ organization_id, content: { subject }, happened_at }: Message, words: Words): Words {
    if (subject.about !== 'finding' || clock() - happened_at < LATE_MS) return words
    const timeZone = organizations.get(organization_id)?.time_zone ?? 'UTC'
    const at = new Date(happened_at).toLocaleString('en-GB', { timeZone, ...TIME_FORMAT })
    const over = subject.remains === undefined ? 'Over since' : 'Ended'
    return { ...words, body: `${words.body}\n${subject.state === 'ended' ? over : 'Since'} ${at}` }
  }

  function sendTest(channel: Channel): Promise<SendResult> {
    const { shown, path, urgency } = TEST_TEXT
    const badge = countOpen(channel.organization_id)
    const message = { ...shown, id: newId('alm'), tag: `test/${channel.id}`, at: clock(), urgency, badge }
    return sendTo(channel, { ...message, is_payment: false, url: `${baseUrl()}${path}` }, null)
  }

  return { call, sendTest, waitOf }
}

/** Returns the function that calls the provider of a channel. It never rejects, and ends after 45 seconds. */
function openProviderCall({ log, channels, dispatcher, vapid }: Deps, closing: AbortSignal) {
  return async (channel: Channel, message: ChannelMessage, mute_url: string | null): Promise<SendResult> => {
    const { signal, aborted, end } = openDeadline(channel, closing)
    try {
      const fields = { settings: channel.settings, secrets: channels.secretsOf(channel) }
      const context = { dispatcher, signal, vapid, mute_url }
      return await Promise.race([kindOf(channel.kind).send(message, fields, context), aborted])
    } catch (error) {
      if (closing.aborted) return { kind: 'retry', words: 'Windfall stopped.', after_ms: null }
      if (error instanceof OutgoingError) return { kind: 'retry', words: error.message, after_ms: null }
      if (error instanceof SecretUnreadable) return { kind: 'dead', words: `${error.message}.` }
      log.error('a channel failed', { channel: channel.id, kind: channel.kind, error })
      const words = 'The message could not be sent because of an error in Windfall. The log has it.'
      return { kind: 'retry', words, after_ms: null }
    } finally {
      end()
    }
  }
}

/** Begins the time of a call. `aborted` rejects when it is over or Windfall stops, after `signal` has closed the connection. */
function openDeadline({ kind }: Channel, closing: AbortSignal) {
  const controller = new AbortController()
  const { signal } = controller
  const server = kind === 'email' ? 'The mail server' : 'The provider'
  const late = () =>
    new OutgoingError('timeout', `${server} did not finish within ${CALL_MS / 1_000} seconds.`)
  const timer = setTimeout(() => controller.abort(late()), CALL_MS)
  const stop = (): void => controller.abort(closing.reason)
  closing.addEventListener('abort', stop, { once: true })
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  aborted.catch(() => undefined)
  if (closing.aborted) stop()

  function end(): void {
    clearTimeout(timer)
    closing.removeEventListener('abort', stop)
  }

  return { signal, aborted, end }
}

/** Returns the function that fixes the text of a message, and of what a summary tells, before it is first sent. */
function openFixing({ store, log, messages, texts }: Deps) {
  /** The text of a message, read again if another message joins the summary meanwhile. */
  async function fix(id: string): Promise<Text | null> {
    for (;;) {
      const message = messages.get(id)
      if (message === null || message.content.text) return message?.content.text ?? null
      const members = membersOf(message)
      const ready = await Promise.all(members.map(withText))
      const text = await texts.textOf(message, ready)
      if (text === null) return null
      const isFixed = await store.commit(() => {
        if (membersOf(message).length !== members.length) return false
        messages.setContent(id, { ...message.content, text })
        return true
      })
      if (isFixed) return text
    }
  }

  /** A member with its text. One that has none is only counted, so that the summary tells the others. */
  async function withText(member: Message): Promise<Message> {
    const text = await fix(member.id).catch((error: unknown) => {
      if (isOfStorage(error)) throw error
      log.error('a summary quotes an alert without its text', { message: member.id, error })
      return null
    })
    return text === null ? member : { ...member, content: { ...member.content, text } }
  }

  const membersOf = ({ id, kind }: Message): Message[] =>
    kind === 'summary' ? messages.members(id).flatMap((member) => messages.get(member) ?? []) : []

  return fix
}

/** Returns the function that marks a send. False if another message joined the summary since its text was fixed. */
function openMarking({ store, messages, muteAddresses }: Deps) {
  return (send: Send, attempts: number): Promise<boolean> =>
    store.commit(() => {
      if (!messages.get(send.message_id)?.content.text) return false
      messages.change(send, { state: 'sending', attempts })
      muteAddresses.prepare()
      return true
    })
}
