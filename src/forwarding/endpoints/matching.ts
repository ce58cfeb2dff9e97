/** Which events an endpoint receives (its kind, apps, environment and types). Pure. */
import { FORWARDED_TYPES } from '../../events/vocabulary.ts'
import type { Item } from '../deliveries/deliveries.ts'
import type { Endpoint } from './endpoints.ts'

type Filter = Pick<Endpoint, 'kind' | 'apps' | 'environment' | 'types'>

/**
 * Why an endpoint does not receive an item, in words; null if it does. An item without an app passes only "all apps",
 * one without an environment passes every environment.
 */
export function mismatchOf(
  { kind, apps, environment, types }: Filter,
  item: Pick<Item, 'type' | 'app_id' | 'environment'>,
): string | null {
  if (apps !== null && (item.app_id === null || !apps.includes(item.app_id)))
    return 'the endpoint does not receive events of this app'
  if (environment !== null && item.environment !== null && item.environment !== environment)
    return `the endpoint receives only ${environment} events`
  if (kind === 'events' && !(types ?? FORWARDED_TYPES).includes(item.type as never))
    return `the endpoint does not receive ${item.type}`
  return null
}
