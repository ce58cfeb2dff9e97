/** `/api/v1/alerts/mute/{address}`: what the button of a message calls. The phone has no session, and logs never contain it. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Alerts } from '../../alerts/alerts.ts'
import { openWindow } from '../../attribution/window.ts'
import type { Clock } from '../../clock.ts'
import { clientAddress } from '../../http/addresses.ts'
import { clientAt } from '../../http/clients/client.ts'
import { defineRoute, PUBLIC, type Route } from '../../http/route.ts'
import type { Store } from '../../store/store.ts'

/** The requests a minute that one address may send. */
const REQUESTS_PER_MINUTE = 30

const MuteAnswer = v.object({ muted_until: v.pipe(v.number(), v.description('When the mute ends')) })

type Deps = {
  alerts: Pick<Alerts, 'pressMute'>
  store: Pick<Store, 'commit'>
  monotonic: Clock
  audit: Audit
}

/** The route of the button. The web app of ntfy calls it from a page of another site. */
export function muteRoutes({ alerts, store, monotonic, audit }: Deps): Route[] {
  const window = openWindow('address', () => REQUESTS_PER_MINUTE, monotonic)

  const pressing = defineRoute({
    method: 'POST',
    tag: 'Owner',
    path: '/api/v1/alerts/mute/:address',
    summary: 'Mutes the alerts of an organization for an hour, once for each message to a channel',
    access: PUBLIC,
    cors: true,
    private_path: true,
    answers: { 200: { description: 'Alerts are muted', schema: MuteAnswer } },
    refusals: { 404: 'unknown_mute', 410: 'mute_ended', 429: 'rate_limited' },
    async handler({ event, params }) {
      const address = clientAddress(event)
      window.admit(clientAt(address).address)
      const muted_until = await store.commit(() => {
        const { channel, is_first, ...pressed } = alerts.pressMute(params.address)
        const { id: actor, name: subject } = channel
        if (is_first) audit.note({ actor, address, action: 'alerts.changed', subject, detail: 'muted_until' })
        return pressed.muted_until
      })
      return { muted_until }
    },
  })
  return [pressing]
}
