/** Which events an endpoint receives (its kind, apps, environment and types). Pure. */
import { FORWARDED_TYPES, LATER_TYPES } from '../../events/vocabulary.ts'
import type { Item } from '../deliveries/deliveries.ts'
import type { Endpoint } from './endpoints.ts'

type Types = Pick<Endpoint, 'kind' | 'types' | 'default_set'>
type Filter = Types & Pick<Endpoint, 'apps' | 'environment'>

/** The newest set of default types. */
export const NEWEST_DEFAULT_SET = 2
const FIRST_DEFAULT_TYPES = FORWARDED_TYPES.filter((type) => !LATER_TYPES.includes(type))

const hasFirstDefaults = ({ kind, types, default_set }: Types): boolean =>
  kind === 'events' && types === null && default_set < NEWEST_DEFAULT_SET

/** The default types that an endpoint does not receive, because an earlier version added it. */
export const missingTypes = (endpoint: Types): readonly string[] =>
  hasFirstDefaults(endpoint) ? LATER_TYPES : []

/** The event types that an endpoint receives. */
export const receivedTypes = (endpoint: Types): readonly string[] =>
  endpoint.types ?? (hasFirstDefaults(endpoint) ? FIRST_DEFAULT_TYPES : FORWARDED_TYPES)

/**
 * Why an endpoint does not receive an item, in words; null if it does. An item without an app passes only "all apps",
 * one without an environment passes every environment.
 */
export function mismatchOf(
  filter: Filter,
  item: Pick<Item, 'type' | 'app_id' | 'environment'>,
): string | null {
  const { kind, apps, environment } = filter
  if (apps !== null && (item.app_id === null || !apps.includes(item.app_id)))
    return 'the endpoint does not receive events of this app'
  if (environment !== null && item.environment !== null && item.environment !== environment)
    return `the endpoint receives only ${environment} events`
  if (kind === 'events' && !receivedTypes(filter).includes(item.type))
    return `the endpoint does not receive ${item.type}`
  return null
}
