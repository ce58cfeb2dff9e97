/** Reads the history of messages: what was sent, to whom, why, or why not. */
import type { Store } from '../../store/store.ts'
import type { Content, Text } from './content.ts'
import { findingText } from './finding_text.ts'
import type { Message, Send } from './messages.ts'

/** A message with its sends, newest first. `title` and `body` are null until it was first sent, unless it is about a finding. */
type HistoryEntry = Omit<Message, 'content' | 'key'> & {
  rule_name: string | null
  title: string | null
  body: string | null
  sends: NamedSend[]
}
type NamedSend = Omit<Send, 'message_id'> & { channel_name: string }

/** `before` is the `created_at` and the id of the last entry of the page before. */
type Query = { organization_id: string | null; before: string | null; limit: number }
type Row = Omit<Message, 'content'> & { content: string; rule_name: string | null }

/** Opens the history. */
export function openAlertHistory(store: Pick<Store, 'prepare'>) {
  const page = store.prepare<Query, Row>(`
    select alert_messages.*, alert_rules.name as rule_name
    from alert_messages left join alert_rules on alert_rules.id = rule_id
    where (:organization_id is null or alert_messages.organization_id = :organization_id)
      and (:before is null or (alert_messages.created_at, alert_messages.id) <
        (select created_at, id from alert_messages where id = :before))
    order by alert_messages.created_at desc, alert_messages.id desc limit :limit`)
  const sendsOf = store.prepare<[string], NamedSend & { message_id: string }>(`
    select alert_sends.*, alert_channels.name as channel_name
    from alert_sends join alert_channels on alert_channels.id = channel_id
    where message_id = ? order by alert_channels.created_at, channel_id`)

  /** The newest messages before one, at most `limit`. */
  const list = (query: Query): HistoryEntry[] => page.all(query).map(entryOf)

  function entryOf({ content, key: _, ...message }: Row): HistoryEntry {
    const text = textOf(JSON.parse(content), message.happened_at)
    const sends = sendsOf.all(message.id).map(({ message_id: __, ...send }) => send)
    return { ...message, title: text?.shown.title ?? null, body: text?.shown.body ?? null, sends }
  }

  return { list }
}

/** The text of a message. That of a finding is known before it is sent, and shows what a summary holds. */
const textOf = ({ text, subject }: Content, happened_at: number): Text | null =>
  text ?? (subject.about === 'finding' ? findingText(subject, happened_at) : null)
