/** `/api/v1/organizations/{id}`: the time zone of an organization. Owner only. */
import * as v from 'valibot'
import type { Audit } from '../../access/audit.ts'
import type { Auth } from '../../access/auth.ts'
import type { Alerts } from '../../alerts/alerts.ts'
import type { Organization, Organizations } from '../../apps/organizations.ts'
import { timeZone } from '../../config/values.ts'
import { Refusal } from '../../errors.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import { OWNER_ROUTE } from '../route_defaults.ts'

/** An IANA time zone. */
export const TimeZone = v.pipe(timeZone, v.description('An IANA time zone, such as Europe/Berlin'))
const Changes = v.strictObject({ time_zone: TimeZone })
const Changed = v.object({
  id: v.string(),
  time_zone: v.string(),
  time_zone_source: v.picklist(['none', 'config', 'dashboard']),
})

type Deps = {
  organizations: Organizations
  alerts: Pick<Alerts, 'lookAgain'>
  metrics: Pick<Metrics, 'resume'>
  audit: Audit
  auth: Auth
}

/** Returns the function that stores a time zone in a unit of work. @throws Refusal 409 `declared_in_config` */
export const openZoneChange =
  ({ organizations, alerts }: Pick<Deps, 'organizations' | 'alerts'>) =>
  (organization: Organization, time_zone: string): void => {
    organizations.setTimeZone(organization, time_zone)
    alerts.lookAgain(organization.id)
  }

export function organizationRoutes({ organizations, alerts, metrics, audit, auth }: Deps): Route[] {
  const changeZone = openZoneChange({ organizations, alerts })
  return [
    defineRoute({
      ...OWNER_ROUTE,
      method: 'PATCH',
      path: '/api/v1/organizations/:id',
      summary: 'Sets the time zone of an organization',
      description:
        'The days of all charts, quiet hours and digests follow it. The figures of all days are counted again in the background.',
      access: auth.owner,
      body: Changes,
      answers: { 200: { description: 'The organization', schema: Changed } },
      refusals: { 404: 'unknown_organization', 409: 'declared_in_config' },
      async handler({ event, params: { id }, body: { time_zone } }) {
        await auth.commitAs(event, auth.owner, (actor) => {
          changeZone(found(id), time_zone)
          audit.note({ ...actor, action: 'organization.changed', subject: id, detail: time_zone })
        })
        await metrics.resume()
        const { time_zone_source, ...changed } = found(id)
        return { id, time_zone: changed.time_zone, time_zone_source }
      },
    }),
  ]

  function found(id: string): Organization {
    const organization = organizations.list().find((one) => one.id === id)
    if (organization) return organization
    throw new Refusal(404, 'unknown_organization', `there is no organization ${id.slice(0, 40)}`)
  }
}
