/** Makes bodies with the modules of a test's Windfall, and reads them. */
import { openBodies } from '../../../src/forwarding/bodies/bodies.ts'
import { openEnrichment } from '../../../src/metrics/customers/enrichment.ts'
import type { TestApp } from '../../helpers.ts'

type State = Record<string, unknown> & { state: string; as_of: number }
/** A body, parsed. */
export type Body = {
  type: string
  timestamp: string
  seq: number | null
  data: Record<string, unknown> & {
    id: string
    app_id: string | null
    data: Record<string, unknown>
    subscription: State | null
    subscription_now: (State & { has_access: boolean; access_until: number | null }) | null
    revenue_milli?: number | null
    currency?: string | null
    proceeds?: { milli: number; currency: string; basis: string | null } | null
    customer:
      | (Record<string, unknown> & {
          users: { app_user_id: string; attributes?: object; proved_attributes?: object }[]
        })
      | null
  }
}

export function bodiesOf({ windfall, clock }: TestApp) {
  const { store, feed, customers, erasures, attribution, metrics } = windfall
  const enrichment = openEnrichment({ customers, clock })
  return openBodies({ store, feed, clock, enrichment, erasures, attribution, metrics })
}

export const parsed = (bodies: readonly Buffer[]): Body[] => bodies.map((body) => JSON.parse(body.toString()))
