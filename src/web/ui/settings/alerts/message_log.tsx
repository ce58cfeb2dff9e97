/** Settings, Alerts: what was sent, to which channel, and why or why not. */
import type { JSX } from 'preact'
import { Card } from '../../parts/card.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { ShowMore } from '../../parts/show_more.tsx'
import { type Message, useMessages } from './alert_queries.ts'

type Send = Message['sends'][number]

const STATES: Record<Send['state'], { title: string; tone: string }> = {
  waiting: { title: 'Waiting', tone: 'accent' },
  held: { title: 'Held', tone: 'accent' },
  sending: { title: 'Sending', tone: 'accent' },
  sent: { title: 'Sent', tone: 'good' },
  joined: { title: 'In a summary', tone: '' },
  dropped: { title: 'Not sent', tone: 'warn' },
  failed: { title: 'Failed', tone: 'bad' },
}

const SendLine = ({ send }: { send: Send }): JSX.Element => {
  const { title, tone } = STATES[send.state]
  return (
    <li class="small">
      <span class={`badge ${tone}`}>{title}</span> {send.channel_name}
      {send.words !== null && <span class="quiet"> · {send.words}</span>}
    </li>
  )
}

/** What a message is about: the rule, or its kind. It stands for the title of a message that was not sent alone. */
const aboutOf = ({ rule_name, kind }: Message): string =>
  rule_name ?? `${kind[0]?.toUpperCase()}${kind.slice(1)}`

const Row = ({ message }: { message: Message }): JSX.Element => (
  <li class="alert-row">
    <div class="alert-words">
      <strong>{message.title ?? aboutOf(message)}</strong>
      {message.body !== null && <div class="small message-body">{message.body}</div>}
      <div class="tiny quiet">
        {message.title !== null && `${aboutOf(message)} · `}
        <RelativeTime at={message.created_at} />
      </div>
      <ul class="plain-list sends">
        {message.sends.map((send) => (
          <SendLine key={send.channel_id} send={send} />
        ))}
      </ul>
      {message.sends.length === 0 && <p class="small quiet">No channel was there for it.</p>}
    </div>
  </li>
)

export function MessageLog(): JSX.Element {
  const paged = useMessages()
  return (
    <Card title="History">
      <QueryView result={paged.first} height={200}>
        {({ messages: [first] }) =>
          first === undefined ? (
            <Empty icon="clock" title="No messages yet">
              <p>
                Each message appears here, with the channels that got it, or the reason why one did not. Tests
                are not listed.
              </p>
            </Empty>
          ) : (
            <>
              <ul class="plain-list">
                {paged.pages.flatMap(({ messages }) =>
                  messages.map((message) => <Row key={message.id} message={message} />),
                )}
              </ul>
              <ShowMore {...paged} />
            </>
          )
        }
      </QueryView>
    </Card>
  )
}
