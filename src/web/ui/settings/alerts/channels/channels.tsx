/** Settings, Alerts: the channels. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { write } from '../../../http.ts'
import { lateDialog } from '../../../loading/late.tsx'
import { Card } from '../../../parts/card.tsx'
import { Icon } from '../../../parts/icons.tsx'
import { Empty, QueryView } from '../../../parts/query_view.tsx'
import { RelativeTime } from '../../../parts/relative_time.tsx'
import { problemFrom } from '../../../queries.ts'
import { organizationName, useSettings } from '../../settings_queries.ts'
import { type Channel, type ChannelTest, channelPath, refreshAlerts, useChannels } from '../alert_queries.ts'
import { useStoredHash } from '../devices/stored_hash.ts'
import { ThisDevice } from '../devices/this_device.tsx'
import { kindTitle } from './channel_kinds.ts'

const AddChannel = lateDialog('Add channel', () =>
  import('./channel_dialogs.tsx').then((module) => module.AddChannel),
)
const EditChannel = lateDialog('Edit channel', () =>
  import('./channel_dialogs.tsx').then((module) => module.EditChannel),
)
const RemoveChannel = lateDialog('Remove channel', () =>
  import('./channel_dialogs.tsx').then((module) => module.RemoveChannel),
)

const STATES = {
  active: { title: 'Works', tone: 'good' },
  dead: { title: 'Does not work', tone: 'bad' },
  disabled: { title: 'Off', tone: '' },
} as const

const NOTHING_SENT = { title: 'Nothing sent yet', tone: '' } as const

/** The result of the last test, by the id of the channel. */
type Tests = Readonly<Record<string, ChannelTest | 'running'>>

/** Sends test messages, and holds their results. */
function useTests(): { tests: Tests; test: (id: string) => void } {
  const [tests, setTests] = useState<Tests>({})
  function test(id: string): void {
    const put = (result: ChannelTest | 'running'): void => setTests((before) => ({ ...before, [id]: result }))
    put('running')
    write<ChannelTest>('POST', channelPath(id, 'test'))
      .then(put, (error: unknown) => put({ result: 'refused', words: problemFrom(error).message }))
      .finally(() => void refreshAlerts())
  }
  return { tests, test }
}

const TestResult = ({ result }: { result: Tests[string] | undefined }): JSX.Element | null => {
  if (result === undefined) return null
  if (result === 'running')
    return (
      <p class="small quiet" role="status">
        Sending …
      </p>
    )
  const whole = result.words === null ? 'good' : 'warn'
  return (
    <p class={`notice ${result.result === 'sent' ? whole : 'bad'}`} role="status">
      {result.words ?? 'The provider accepted the message. Look at your phone.'}
    </p>
  )
}

type RowProps = { channel: Channel; result: Tests[string] | undefined; onTest: () => void }
function Row({ channel, result, onTest }: RowProps): JSX.Element {
  const settings = useSettings().data
  const [dialog, setDialog] = useState<'edit' | 'remove' | null>(null)
  const thisDevice = useStoredHash()
  const isNew = channel.state === 'active' && channel.last_sent_at === null
  const { title, tone } = isNew ? NOTHING_SENT : STATES[channel.state]
  const isDeclared = channel.source !== 'dashboard'
  const close = (): void => setDialog(null)
  return (
    <li class="alert-row">
      <div class="alert-words">
        <div class="row">
          <strong>{channel.name}</strong>
          <span class={`badge ${tone}`}>{title}</span>
        </div>
        <div class="tiny quiet webhook-url">
          {kindTitle(channel.kind)} · {channel.address}
          {channel.settings.endpoint_hash === thisDevice && ' · this device'}
          {isDeclared && ' · declared in config.toml'}
          {(settings?.organizations.length ?? 0) > 1 &&
            ` · ${organizationName(settings, channel.organization_id)}`}
        </div>
        <div class="tiny quiet">
          Last message <RelativeTime at={channel.last_sent_at} never="never" />
          {channel.hides_amounts && ' · without amounts'}
          {channel.digests.length > 0 && ` · ${channel.digests.join(' and ')} digest`}
        </div>
        {channel.reason !== null && <p class="small bad">{channel.reason}</p>}
        <TestResult result={result} />
      </div>
      <div class="row">
        <button type="button" class="button" disabled={result === 'running'} onClick={onTest}>
          Test
        </button>
        {!isDeclared && (
          <>
            <button type="button" class="button" onClick={() => setDialog('edit')}>
              Edit
            </button>
            <button
              type="button"
              class="button plain icon"
              aria-label={`Remove ${channel.name}`}
              onClick={() => setDialog('remove')}
            >
              <Icon name="trash" />
            </button>
          </>
        )}
      </div>
      {dialog === 'edit' && <EditChannel channel={channel} onClose={close} />}
      {dialog === 'remove' && <RemoveChannel channel={channel} onClose={close} />}
    </li>
  )
}

/** What the test of a device said that it removed. */
const Ended = ({ tests, channels }: { tests: Tests; channels: readonly Channel[] }): JSX.Element => (
  <>
    {Object.entries(tests).map(
      ([id, result]) =>
        result !== 'running' &&
        result.result === 'gone' &&
        channels.every((channel) => channel.id !== id) && <TestResult key={id} result={result} />,
    )}
  </>
)

const AddButton = ({ onClick }: { onClick: () => void }): JSX.Element => (
  <button type="button" class="button" onClick={onClick}>
    <Icon name="plus" /> Add channel
  </button>
)

export function Channels(): JSX.Element {
  const result = useChannels()
  // The form preselects an organization.
  useSettings()
  const { tests, test } = useTests()
  const [isAdding, setAdding] = useState(false)
  const add = (): void => setAdding(true)
  const tested = ({ id }: Channel): void => test(id)
  return (
    <Card title="Channels" tools={(result.data?.channels.length ?? 0) > 0 && <AddButton onClick={add} />}>
      <Ended tests={tests} channels={result.data?.channels ?? []} />
      <QueryView result={result} height={160}>
        {({ channels }) =>
          channels.length === 0 ? (
            <Empty icon="bell" title="No channels yet">
              <p>
                A channel is where messages go: an app on your phone, a chat or a mailbox. The first one
                brings the default rules, and a test message.
              </p>
              <ThisDevice channels={channels} onAdded={tested} />
              <AddButton onClick={add} />
            </Empty>
          ) : (
            <>
              <ThisDevice channels={channels} onAdded={tested} />
              <ul class="plain-list">
                {channels.map((channel) => (
                  <Row
                    key={channel.id}
                    channel={channel}
                    result={tests[channel.id]}
                    onTest={() => test(channel.id)}
                  />
                ))}
              </ul>
            </>
          )
        }
      </QueryView>
      {isAdding && (
        <AddChannel
          onAdded={({ id }) => {
            setAdding(false)
            test(id)
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </Card>
  )
}
