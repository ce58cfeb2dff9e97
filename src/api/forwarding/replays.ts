/** `/api/v1/endpoints/{id}/replay` and `/api/v1/replays`: past events that are sent again. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Forwarding } from '../../forwarding/forwarding.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { defineList } from '../lists.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'
import { ReplayAnswer, ReplayPreview, ReplaysAnswer } from './answers.ts'
import { ReplaySelection, replayFilterOf } from './requests.ts'

const ReplayBody = v.strictObject({
  ...ReplaySelection,
  preview: v.optional(v.pipe(v.boolean(), v.description('Only count what would be sent')), false),
})

type Deps = { forwarding: Forwarding; apps: Apps; audit: Audit; auth: Auth }

export const replayRoutes = (deps: Deps): Route[] => [startRoute(deps), ...followingRoutes(deps)]

function startRoute(deps: Deps): Route {
  const { forwarding, apps, audit, auth } = deps
  const { endpoints, replays } = forwarding

  return defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/endpoints/:id/replay',
    summary: 'Sends past events again: one delivery, all that failed, or a range; or counts them',
    description:
      'Ids stay the same. Bodies that are still stored are sent as they were; others are made again. A replay waits while its endpoint is paused or failing.',
    access: auth.owner,
    body: ReplayBody,
    answers: {
      200: { description: 'With `preview`, what would be sent', schema: ReplayPreview },
      201: { description: 'The replay', schema: ReplayAnswer },
    },
    refusals: {
      404: 'unknown_endpoint, unknown_delivery, unknown_app',
      409: 'delivery_waiting, test_delivery',
    },
    async handler({ event, params: { id }, body: { preview, ...selection } }) {
      const filter = replayFilterOf(apps, endpoints.get(id), selection)
      if (preview) return replays.preview(endpoints.get(id), filter)
      const replay = await auth.commitAs(event, auth.owner, (actor) => {
        const endpoint = endpoints.get(id)
        const started = replays.start(endpoint, filter, actor.actor)
        audit.note({ ...actor, action: 'replay.started', subject: started.id, detail: endpoint.name })
        return started
      })
      forwarding.wake()
      event.res.status = 201
      return replay
    },
  })
}

const followingRoutes = ({ forwarding: { endpoints, replays }, audit, auth }: Deps): Route[] => [
  ...defineList(auth, {
    ...OWNER_ROUTE,
    path: '/api/v1/endpoints/:id/replays',
    summary: 'Lists the last 20 replays of an endpoint, newest first',
    access: auth.owner,
    answer: { description: 'The replays', schema: ReplaysAnswer },
    refusals: { 404: 'unknown_endpoint' },
    read: ({ params: { id } }) => ({ replays: replays.list(endpoints.get(id).id) }),
  }),
  defineRoute({
    ...OWNER_ROUTE,
    method: 'GET',
    path: '/api/v1/replays/:id',
    summary: 'Returns a replay with its progress',
    access: auth.owner,
    answers: { 200: { description: 'The replay', schema: ReplayAnswer } },
    refusals: { 404: 'unknown_replay' },
    handler: ({ params: { id } }) => replays.get(id),
  }),
  defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/replays/:id/stop',
    summary: 'Stops a replay; what it has not sent is skipped',
    access: auth.owner,
    answers: { 200: { description: 'The replay', schema: ReplayAnswer } },
    refusals: { 404: 'unknown_replay' },
    handler: ({ event, params: { id } }) =>
      auth.commitAs(event, auth.owner, (actor) => {
        const { state, waiting } = replays.get(id)
        if (state === 'running' || waiting > 0)
          audit.note({ ...actor, action: 'replay.stopped', subject: id })
        return replays.stop(id)
      }),
  }),
]
