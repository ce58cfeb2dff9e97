/** The findings about channels that do not work, or that have not been reached for an hour. */
import type { Clock } from '../../clock.ts'
import { type Finding, warning } from '../../health/findings.ts'
import type { Store } from '../../store/store.ts'
import type { Channel, Channels } from './channels.ts'

/** A channel that has not been reached for this long is a finding. Providers have outages of minutes. */
const UNREACHED_MS = 3_600_000

type Waiting = { since: number; words: string }
type Deps = { store: Pick<Store, 'prepare'>; clock: Clock; channels: Pick<Channels, 'list'> }

/** The id of the finding about a channel. */
export const findingIdOf = (channel_id: string): string => `channel:${channel_id}`

/** Returns the function that finds a warning for each channel that its provider refuses, or that is not reached. */
export function openChannelFindings({ store, clock, channels }: Deps) {
  // What was given up since the last success counts: otherwise the finding would end with the last attempt.
  const unreached = store.prepare<[string, number], Waiting>(`
    select min(created_at) as since, words from alert_sends join alert_messages on id = message_id
    where channel_id = ? and created_at > ?
      and ((state = 'waiting' and attempts > 0) or (state = 'failed' and words like 'Given up%'))
    having since is not null`)

  function waitingFor({ id, last_sent_at, last_failed_at }: Channel): Waiting | null {
    if (last_failed_at === null || last_failed_at < (last_sent_at ?? 0)) return null
    const found = unreached.get(id, last_sent_at ?? 0)
    return found !== undefined && clock() - found.since >= UNREACHED_MS ? found : null
  }

  function findingOf(channel: Channel): Finding[] {
    const { state, reason, state_since } = channel
    if (state === 'dead')
      return [findingAbout(channel, reason ?? 'The provider refuses the channel.', state_since)]
    const waiting = state === 'active' ? waitingFor(channel) : null
    return waiting === null ? [] : [findingAbout(channel, waiting.words, waiting.since)]
  }

  return (): Finding[] => channels.list().flatMap(findingOf)
}

const findingAbout = ({ id, organization_id, name }: Channel, text: string, since: number): Finding =>
  warning('alerts', text, {
    id: findingIdOf(id),
    organization_id,
    title: `Alerts do not reach ${name}`,
    since,
    action: { label: 'Open the channel', href: '/settings/alerts' },
  })
