/** The findings about channels that do not work. */
import { type Finding, warning } from '../../health/findings.ts'
import type { Channel } from './channels.ts'

/** A warning for each channel that its provider refuses. */
export const examineChannels = (channels: readonly Channel[]): Finding[] =>
  channels
    .filter(({ state }) => state === 'dead')
    .map(({ id, organization_id, name, reason, state_since }) =>
      warning('alerts', reason ?? 'The provider refuses the channel.', {
        id: `channel:${id}`,
        organization_id,
        title: `Alerts do not reach ${name}`,
        since: state_since,
        action: { label: 'Open the channel', href: '/settings/alerts' },
      }),
    )
