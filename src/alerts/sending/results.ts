/** Stores what became of an attempt or a test: of the message, and of its channel. Functions must run inside a unit of work. */
import type { Clock } from '../../clock.ts'
import { Refusal } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { isStorageFault } from '../../store/sqlite_errors.ts'
import type { SendResult } from '../channels/channel.ts'
import type { Channel, Channels } from '../channels/channels.ts'
import type { Message, Messages, Send } from '../messages/messages.ts'
import { delayAfter } from './back_off.ts'

/** A message is given up after this time, but not before this many attempts: a mute may have held it for longer. */
const GIVE_UP_MS = 24 * 3_600_000
const GIVE_UP_ATTEMPTS = 24
/** The longest delay between two attempts, unless the provider asks for a longer one. */
const LONGEST_DELAY_MS = 10 * 60_000

type Deps = { clock: Clock; channels: Channels; messages: Messages }

/** Whether the database failed, and not the work with one message. */
export const isOfStorage = (error: unknown): boolean => error instanceof Refusal || isStorageFault(error)

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

/** Removes a channel whose receiver ended it; false if it got another receiver while the message was on its way. */
function removeEnded(channels: Channels, { id, settings }: Channel): boolean {
  const current = channels.get(id)
  if (current !== null && JSON.stringify(current.settings) !== JSON.stringify(settings)) return false
  channels.remove(id)
  return true
}

/** Tells the other channels of an organization that a device was removed. */
function reportRemoval({ clock, channels, messages }: Deps, { id, organization_id, name }: Channel): void {
  const others = channels.list(organization_id)
  if (others.length === 0) return
  const message = messages.add({
    organization_id,
    rule_id: null,
    kind: 'device',
    key: `device/${id}`,
    content: { subject: { about: 'device', name } },
    happened_at: clock(),
  })
  if (message !== null) for (const other of others) messages.addSend(message.id, other.id, clock())
}

/** A channel that accepted a message, and takes the next one after `wait_ms`. */
const acceptedBy = (channel: Channel, wait_ms = 0, now: number): Channel => ({
  ...channel,
  last_sent_at: now,
  next_at: wait_ms > 0 ? now + wait_ms : null,
})

/** Returns the function that stores the result of an attempt. */
export function openResults(deps: Deps) {
  const { clock, channels, messages } = deps
  return (message: Message, send: Send, channel: Channel, result: SendResult): void => {
    const current = channels.get(channel.id) ?? channel
    switch (result.kind) {
      case 'sent':
        messages.finish(send, 'sent', result.words ?? null)
        return channels.put(acceptedBy(current, result.wait_ms, clock()))
      case 'refused':
        return messages.finish(send, 'failed', result.words)
      case 'dead':
        messages.finish(send, 'failed', result.words)
        return channels.setState(current, 'dead', result.words)
      case 'gone':
        if (removeEnded(channels, channel)) {
          reportRemoval(deps, current)
          return messages.finish(send, 'failed', result.words)
        }
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
        const delay = result.after_ms ?? delayAfter(send.attempts, LONGEST_DELAY_MS)
        return messages.change(send, { state: 'waiting', due_at: clock() + delay, words: result.words })
      }
    }
  }
}

/** Stores what a test says about a channel. A channel that the owner turned off stays off. */
export function noteTest(
  { clock, channels }: Omit<Deps, 'messages'>,
  tested: Channel,
  result: SendResult,
): void {
  if (result.kind === 'gone' && removeEnded(channels, tested)) return
  const channel = channels.get(tested.id)
  if (channel === null) return
  if (result.kind === 'sent') {
    channels.put({ ...channel, last_sent_at: clock(), next_at: null })
    if (channel.state === 'dead') channels.setState({ ...channel, last_sent_at: clock() }, 'active', null)
  } else if (result.kind === 'dead' && channel.state === 'active')
    channels.setState({ ...channel, last_failed_at: clock() }, 'dead', result.words)
  else channels.put({ ...channel, last_failed_at: clock() })
}
