/** Sends one message to one channel: fixes its text, marks it, calls the provider, and stores the result. */
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import { SecretUnreadable } from '../../outgoing/sealing.ts'
import { isStorageFault } from '../../store/sqlite_errors.ts'
import type { Store } from '../../store/store.ts'
import type { ChannelMessage, SendContext, SendResult } from '../channels/channel.ts'
import type { Channel, Channels } from '../channels/channels.ts'
import { kindOf } from '../channels/kinds.ts'
import type { Text, Words } from '../messages/content.ts'
import type { Message, Messages, Send } from '../messages/messages.ts'
import { TEST_TEXT, type Texts } from '../messages/text.ts'
import type { Buckets } from './buckets.ts'

/** A message is given up after this time, but not before this many attempts: a mute may have held it for longer. */
const GIVE_UP_MS = 24 * 3_600_000
const GIVE_UP_ATTEMPTS = 24
/** The delay after the first failure, which doubles with each further one up to the longest. */
const FIRST_DELAY_MS = 5_000
const LONGEST_DELAY_MS = 10 * 60_000
/** A message about trouble that is sent this long after it happened tells its time. */
const LATE_MS = 10 * 60_000
const TIME_FORMAT = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const
const NOTHING_LEFT = 'What the message is about does not exist any more.'
/** How long a stop waits for requests that run. */
const CLOSE_MS = 3_000

type Deps = {
  store: Store
  clock: Clock
  log: Log
  organizations: Pick<Organizations, 'get'>
  channels: Channels
  messages: Messages
  texts: Texts
  buckets: Buckets
  dispatcher: SendContext['dispatcher']
  baseUrl: () => string
  vapid: SendContext['vapid']
  /** The number of findings of an organization that are announced and not over. */
  countOpen: (organization_id: string) => number
}

export type Attempts = ReturnType<typeof openAttempts>

/** Opens the attempts. */
export function openAttempts(deps: Deps) {
  const { store, messages, channels } = deps
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

  /**
   * Sends a test message to a channel now, whatever its state, the quiet hours and the mute are. A channel that did not
   * work and accepts it works again.
   */
  async function test(channel: Channel): Promise<SendResult> {
    const result = await sendTest(channel)
    await store.commit(() => {
      if (result.kind === 'gone' && removeEnded(channels, channel)) return
      const current = channels.get(channel.id)
      if (current !== null) noteTest(deps, current, result)
    })
    return result
  }

  return { attempt, test, waitOf, close }
}

/** Whether the database failed, and not the work with one message. */
const isOfStorage = (error: unknown): boolean => error instanceof Refusal || isStorageFault(error)

/** Ends a send that an error in Windfall keeps from being sent. Must run inside a unit of work. */
export function noteUnsendable(
  { log, messages }: { log: Log; messages: Messages },
  send: Send,
  error: unknown,
): void {
  log.error('an alert cannot be sent', { message: send.message_id, channel: send.channel_id, error })
  const reason = error instanceof Error ? error.message : String(error)
  const words = `An error in Windfall keeps it from being sent: ${reason}`
  messages.finish(messages.send(send.message_id, send.channel_id) ?? send, 'failed', words)
}

/** Opens the calls of providers. */
function openCalls(deps: Deps, signal: AbortSignal) {
  const { log, clock, organizations, channels, buckets, dispatcher, baseUrl, vapid, countOpen } = deps

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

  async function sendTo(channel: Channel, message: ChannelMessage): Promise<SendResult> {
    try {
      const secrets = channels.secretsOf(channel)
      const { settings } = channel
      return await kindOf(channel.kind).send(message, { settings, secrets }, { dispatcher, signal, vapid })
    } catch (error) {
      if (signal.aborted) return { kind: 'retry', words: 'Windfall stopped.', after_ms: null }
      if (error instanceof SecretUnreadable) return { kind: 'dead', words: `${error.message}.` }
      log.error('a channel failed', { channel: channel.id, kind: channel.kind, error })
      const words = 'The message could not be sent because of an error in Windfall. The log has it.'
      return { kind: 'retry', words, after_ms: null }
    }
  }

  /** Sends a message in the form of a channel. Never rejects. */
  function call(channel: Channel, message: Message, text: Text): Promise<SendResult> {
    const { id, key, happened_at } = message
    const words = withTime(message, channel.hides_amounts ? text.hidden : text.shown)
    const url = `${baseUrl()}${text.path}`
    const badge = countOpen(channel.organization_id)
    return sendTo(channel, { ...words, id, tag: key, url, urgency: text.urgency, at: happened_at, badge })
  }

  /** The words of a message, with its time if it is about trouble and late. */
  function withTime({ organization_id, content: { subject }, happened_at }: Message, words: Words): Words {
    if (subject.about !== 'finding' || clock() - happened_at < LATE_MS) return words
    const timeZone = organizations.get(organization_id)?.time_zone ?? 'UTC'
    const at = new Date(happened_at).toLocaleString('en-GB', { timeZone, ...TIME_FORMAT })
    return { ...words, body: `${words.body}\n${subject.state === 'ended' ? 'Over since' : 'Since'} ${at}` }
  }

  function sendTest(channel: Channel): Promise<SendResult> {
    const { shown, path, urgency } = TEST_TEXT
    const badge = countOpen(channel.organization_id)
    const message = { ...shown, id: newId('alm'), tag: `test/${channel.id}`, at: clock(), urgency, badge }
    return sendTo(channel, { ...message, url: `${baseUrl()}${path}` })
  }

  return { call, sendTest, waitOf }
}

/** Stores what a test says about a channel. A channel that the owner turned off stays off. */
function noteTest({ clock, channels }: Deps, channel: Channel, result: SendResult): void {
  if (result.kind === 'sent') {
    channels.put({ ...channel, last_sent_at: clock(), next_at: null })
    if (channel.state === 'dead') channels.setState({ ...channel, last_sent_at: clock() }, 'active', null)
  } else if (result.kind === 'dead' && channel.state === 'active')
    channels.setState({ ...channel, last_failed_at: clock() }, 'dead', result.words)
  else channels.put({ ...channel, last_failed_at: clock() })
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
function openMarking({ store, messages }: Deps) {
  return (send: Send, attempts: number): Promise<boolean> =>
    store.commit(() => {
      if (!messages.get(send.message_id)?.content.text) return false
      messages.change(send, { state: 'sending', attempts })
      return true
    })
}

/** Removes a channel whose receiver ended it; false if it got another receiver while the message was on its way. */
function removeEnded(channels: Channels, { id, settings }: Channel): boolean {
  const current = channels.get(id)
  if (current !== null && JSON.stringify(current.settings) !== JSON.stringify(settings)) return false
  channels.remove(id)
  return true
}

/** A channel that accepted a message. Another one, sent at the same time, may have been told to wait for longer. */
function acceptedBy(channel: Channel, wait_ms: number, now: number): Channel {
  const next_at = Math.max(channel.next_at ?? 0, now + wait_ms)
  return { ...channel, last_sent_at: now, next_at: next_at > now ? next_at : null }
}

/** Returns the function that stores the result of an attempt. */
function openResults({ clock, channels, messages }: Deps) {
  return (message: Message, send: Send, channel: Channel, result: SendResult): void => {
    const current = channels.get(channel.id) ?? channel
    switch (result.kind) {
      case 'sent':
        messages.finish(send, 'sent', null)
        return channels.put(acceptedBy(current, result.wait_ms ?? 0, clock()))
      case 'refused':
        return messages.finish(send, 'failed', result.words)
      case 'dead':
        messages.finish(send, 'failed', result.words)
        return channels.setState(current, 'dead', result.words)
      case 'gone':
        if (removeEnded(channels, channel)) return messages.finish(send, 'failed', result.words)
        return messages.change(send, {
          state: 'waiting',
          due_at: clock(),
          words: 'The device renewed itself.',
        })
      case 'retry': {
        channels.put({
          ...current,
          last_failed_at: clock(),
          next_at: result.after_ms === null ? null : clock() + result.after_ms,
        })
        if (clock() - message.created_at > GIVE_UP_MS && send.attempts >= GIVE_UP_ATTEMPTS)
          return messages.finish(send, 'failed', `Given up after 24 hours: ${result.words}`)
        const delay = result.after_ms ?? Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (send.attempts - 1))
        return messages.change(send, { state: 'waiting', due_at: clock() + delay, words: result.words })
      }
    }
  }
}
