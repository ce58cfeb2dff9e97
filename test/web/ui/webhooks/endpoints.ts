/** An endpoint as the API gives it. */
import type { Endpoint } from '../../../../src/web/ui/settings/webhooks/webhook_queries.ts'

/** An active endpoint with default settings, with changes. */
export const endpointOf = (changes: Partial<Endpoint> = {}): Endpoint => ({
  id: 'whe_1',
  organization_id: 'org_1',
  name: 'Backend',
  kind: 'events',
  url: 'https://api.example.com/hooks',
  apps: null,
  environment: null,
  types: null,
  ordered: false,
  max_per_second: null,
  header_names: [],
  missing_types: [],
  source: 'dashboard',
  state: 'active',
  reason: null,
  state_since: 1,
  secrets: [{ created_at: 1, expires_at: null }],
  health: {
    attempts: 0,
    succeeded: 0,
    is_unsteady: false,
    last_success_at: null,
    last_failure_at: null,
    waiting: 0,
    is_waiting_capped: false,
    oldest_waiting_at: null,
    next_attempt_at: null,
    lost: 0,
    first_lost_at: null,
    last_lost_at: null,
  },
  created_at: 1,
  ...changes,
})
