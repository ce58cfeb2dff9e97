/** `/api/v1/endpoints/{id}/dismiss`: the owner needs no replay of what was given up. Owner only. */
import * as v from 'valibot'
import type { Audit, AuditActor } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Clock } from '../../clock.ts'
import type { Forwarding } from '../../forwarding/forwarding.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

const DismissBody = v.strictObject({
  until_at: v.optional(
    v.pipe(
      v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
      v.description(
        'Only what was given up until this time, inclusive: `last_lost_at` as you saw it. null is until now',
      ),
    ),
    null,
  ),
})
const Dismissed = v.object({
  dismissed: v.pipe(v.number(), v.description('Deliveries that count no longer as lost')),
})

type Dismissing = {
  forwarding: Pick<Forwarding, 'dismissLosses' | 'endpoints'>
  audit: Audit
  /** Runs work in a unit of work, for the actor of the audit log. */
  commit: (work: (actor: AuditActor) => number) => Promise<number>
}

/**
 * Dismisses what was given up until `until_at`, in slices, and returns how many deliveries.
 *
 * @throws Refusal 404 `unknown_endpoint`
 */
export async function dismissLosses(
  { forwarding, audit, commit }: Dismissing,
  id: string,
  until_at: number,
): Promise<number> {
  let dismissed = 0
  for (;;) {
    const count = await commit((actor) => {
      const { name: detail } = forwarding.endpoints.get(id)
      const changed = forwarding.dismissLosses(id, until_at)
      if (dismissed === 0 && changed > 0)
        audit.note({ ...actor, action: 'endpoint.losses_dismissed', subject: id, detail })
      return changed
    })
    if (count === 0) return dismissed
    dismissed += count
  }
}

type Deps = { forwarding: Forwarding; audit: Audit; auth: Auth; clock: Clock }

export const lossRoutes = ({ forwarding, audit, auth, clock }: Deps): Route[] => [
  defineRoute({
    ...OWNER_ROUTE,
    method: 'POST',
    path: '/api/v1/endpoints/:id/dismiss',
    summary: 'Dismisses the deliveries that were given up: they need not be sent again',
    description:
      'They are no longer reported, and a replay of all that failed leaves them out. They stay in the log, and can be replayed one by one or by a range.',
    access: auth.owner,
    body: DismissBody,
    answers: { 200: { description: 'How many were dismissed', schema: Dismissed } },
    refusals: { 404: 'unknown_endpoint' },
    async handler({ event, params: { id }, body: { until_at } }) {
      const commit = (work: (actor: AuditActor) => number) => auth.commitAs(event, auth.owner, work)
      return { dismissed: await dismissLosses({ forwarding, audit, commit }, id, until_at ?? clock()) }
    },
  }),
]
