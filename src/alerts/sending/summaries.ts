/** Begins the summaries that tell several messages together. Writing functions must run inside a unit of work. */
import type { Clock } from '../../clock.ts'
import type { SummaryReason } from '../messages/content.ts'
import type { Messages, Send } from '../messages/messages.ts'

/** Recovered messages are collected for this long at most. */
const COLLECT_MOST_MS = 30 * 60_000

type Wanted = { reason: SummaryReason; key: string; due_at: number }

export type Summaries = ReturnType<typeof openSummaries>

/** Opens the summaries. */
export function openSummaries(messages: Messages, clock: Clock) {
  /** The id of the summary with this key for a channel, which begins it if it does not exist or was sent already. */
  function idFor(organization_id: string, channel_id: string, { reason, key, due_at }: Wanted): string {
    const known = messages.find(organization_id, key)
    const send = known && messages.send(known.id, channel_id)
    if (known !== null && send !== null && isJoinable(send)) {
      // The summary can have been tried already, or its text just be made: it is made again with what joins it.
      messages.setContent(known.id, { subject: known.content.subject })
      if (reason === 'recovered' && due_at - known.happened_at <= COLLECT_MOST_MS)
        messages.change(send, { due_at })
      return known.id
    }
    const message = messages.add({
      organization_id,
      rule_id: null,
      kind: 'summary',
      // After the clock was set back, the summary of an instant can have been sent already.
      key: known === null ? key : `${key}/${clock()}`,
      content: { subject: { about: 'summary', reason } },
      happened_at: clock(),
    })
    if (message === null) throw new Error(`the summary ${key} exists`)
    messages.addSend(message.id, channel_id, due_at)
    return message.id
  }

  return { idFor }
}

const isJoinable = ({ state }: Send): boolean => state === 'waiting' || state === 'held'
