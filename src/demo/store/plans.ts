/** The columns of reports that name a subscription. */
import { APPS } from '../world/catalogue.ts'
import type { Plan } from '../world/products.ts'
import { lengthOf, type Row } from './tables.ts'

/** The columns that name a subscription, which three of the four reports have. */
export function planColumns(bundle_id: string | null, plan: Plan): Row {
  const app = APPS.find((one) => one.bundle_id === bundle_id)
  return {
    'App Name': app?.name ?? null,
    'App Apple ID': app?.apple_id ?? null,
    'Subscription Name': plan.name,
    'Subscription Apple ID': plan.apple_id,
    'Subscription Group ID': plan.group,
    'Standard Subscription Duration': lengthOf(plan),
  }
}
