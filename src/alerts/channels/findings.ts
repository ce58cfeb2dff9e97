/**
 * The findings about channels that do not work, or that have not been reached for an hour, about rules that no channel
 * serves, and about a mute.
 */
import type { Organizations } from '../../apps/organizations.ts'
import type { Clock } from '../../clock.ts'
import { utcMinuteText } from '../../days.ts'
import { type Finding, notice, warning } from '../../health/findings.ts'
import type { Store } from '../../store/store.ts'
import { countText } from '../messages/wording.ts'
import type { Rule, Rules } from '../rules/rules.ts'
import type { AlertSettingsStore } from '../settings.ts'
import type { Channel, Channels } from './channels.ts'

/** A channel that has not been reached for this long is a finding. Providers have outages of minutes. */
const UNREACHED_MS = 3_600_000

type Waiting = { since: number; words: string }
type Deps = {
  store: Pick<Store, 'prepare'>
  clock: Clock
  organizations: Pick<Organizations, 'get' | 'list'>
  channels: Pick<Channels, 'list'>
  rules: Pick<Rules, 'list'>
  settings: Pick<AlertSettingsStore, 'get'>
}

/** The id of the finding about a channel. */
export const findingIdOf = (channel_id: string): string => `channel:${channel_id}`

/** Returns the function that finds what keeps alerts from the owner: warnings, and a notice while they are muted. */
export function openChannelFindings(deps: Deps) {
  const { store, clock, channels } = deps
  const unservedFindings = openUnserved(deps)
  const muteFindings = openMuteFindings(deps)
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

  return (): Finding[] => [...channels.list().flatMap(findingOf), ...unservedFindings(), ...muteFindings()]
}

const PAGE = '/settings/alerts'

const findingAbout = ({ id, organization_id, name }: Channel, text: string, since: number): Finding =>
  warning('alerts', text, {
    id: findingIdOf(id),
    organization_id,
    title: `Alerts do not reach ${name}`,
    since,
    action: { label: 'Open the channel', href: PAGE },
  })

/** Returns the function that finds the organizations whose alerts are muted. */
const openMuteFindings =
  ({ clock, organizations, settings }: Pick<Deps, 'clock' | 'organizations' | 'settings'>) =>
  (): Finding[] =>
    organizations.list().flatMap(({ id }) => {
      const { muted_until } = settings.get(id)
      if (muted_until === null || muted_until <= clock()) return []
      const text = `Nothing is sent until ${utcMinuteText(muted_until)}. One summary follows.`
      const action = { label: 'Unmute', href: PAGE }
      const details = { id: `muted:${id}`, organization_id: id, title: 'Alerts are muted', action }
      return [notice('alerts', text, details)]
    })

/** Returns the function that finds the rules that are on and have no channel that is active: one finding an organization. */
function openUnserved({ organizations, channels, rules }: Omit<Deps, 'store' | 'clock'>) {
  function findingOf(organization_id: string, on: readonly Rule[]): Finding[] {
    const known = channels.list(organization_id)
    const active = known.filter(({ state }) => state === 'active').map(({ id }) => id)
    const unserved = on.filter(({ channels: ids }) => !active.some((id) => ids === null || ids.includes(id)))
    // An organization that is removed from config.toml keeps its rules.
    if (unserved.length === 0 || organizations.get(organization_id)?.gone_at !== null) return []
    const action = { label: 'Open the channels', href: PAGE }
    const details = { id: `no_channel:${organization_id}`, organization_id, action }
    return active.length === 0
      ? [warning('alerts', noneText(unserved.length, known), { ...details, ...NONE })]
      : [warning('alerts', someText(unserved), { ...details, ...SOME })]
  }

  return (): Finding[] => {
    const on = rules.list().filter(({ is_on }) => is_on)
    return [...Map.groupBy(on, ({ organization_id }) => organization_id)].flatMap(([id, own]) =>
      findingOf(id, own),
    )
  }
}

const NONE = {
  title: 'No channel is left for alerts',
  remedy: 'Add a channel or make one work again, or turn the rules off.',
}
const SOME = { title: 'A rule has no channel left', remedy: 'Choose other channels for it, or turn it off.' }

function noneText(count: number, known: readonly Channel[]): string {
  const which = known.length === 0 ? 'there is no channel' : 'every channel is turned off or does not work'
  return `${countText(count, 'rule is', 'rules are')} on, but ${which}, so nobody gets their messages.`
}

function someText([first, ...others]: readonly Rule[]): string {
  const more =
    others.length === 0 ? ' is' : ` and ${countText(others.length, 'other rule', 'other rules')} are`
  return `“${first?.name}”${more} on, but each channel that the rule names was removed, is turned off or does not work.`
}
