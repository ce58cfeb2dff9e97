/** Finds the messages that other rules have about the same payment, refund or event for the same channel: one is sent. */
import type { Message, Messages, Send } from '../messages/messages.ts'
import type { Rules } from '../rules/rules.ts'
import type { TemplateName } from '../rules/templates.ts'

/** The templates of events, the one with the most telling title first. */
const TELLING: readonly TemplateName[] = [
  'first_in_country',
  'big_sale',
  'new_subscriber',
  'trial',
  'refund',
  'billing_failure',
  'cancellation',
  'sale',
]
const REPORTED: readonly Send['state'][] = ['sending', 'sent', 'joined']
const PENDING: readonly Send['state'][] = ['waiting', 'held']

type Deps = { rules: Pick<Rules, 'list'>; messages: Pick<Messages, 'find' | 'send'> }

/**
 * Returns the function that names the rule that reports to a channel what a message is about: one that has reported it, or whose
 * message waits and is more telling. Null if the message itself is to be sent.
 */
export function openRepetitions({ rules, messages }: Deps) {
  return ({ channel_id }: Send, message: Message): string | null => {
    const { organization_id, rule_id, key, content } = message
    if (content.subject.about !== 'event' || rule_id === null) return null
    const subject = key.slice(rule_id.length + 1)
    const isTelling = (other: Message): boolean => {
      const state = messages.send(other.id, channel_id)?.state ?? 'dropped'
      return REPORTED.includes(state) || (PENDING.includes(state) && isBefore(other, message))
    }
    const telling = rules.list(organization_id).find(({ id }) => {
      const other = id === rule_id ? null : messages.find(organization_id, `${id}/${subject}`)
      return other !== null && isTelling(other)
    })
    return telling?.name ?? null
  }
}

/** Whether a message is more telling than another; of two that tell the same, one. */
function isBefore(one: Message, other: Message): boolean {
  const [rank, otherRank] = [rankOf(one), rankOf(other)]
  return rank < otherRank || (rank === otherRank && one.id < other.id)
}

const rankOf = ({ content: { subject } }: Message): number =>
  subject.about === 'event' ? TELLING.indexOf(subject.template) : TELLING.length
