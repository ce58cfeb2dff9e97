/** Whether a caller can read a customer. */
import { appsInScope } from '../../access/scope.ts'
import type { AccessScope } from '../../access/tokens.ts'
import type { Apps } from '../../apps/apps.ts'
import { Refusal } from '../../errors.ts'
import type { Customers } from '../../metrics/customers/customers.ts'

type Deps = { customers: Pick<Customers, 'findById'>; apps: Apps }

export const unknownCustomer = (id: string): Refusal =>
  new Refusal(404, 'unknown_customer', `no customer ${id} is readable with this token`)

/** @throws Refusal 404 if the customer does not exist or belongs to an app that the caller cannot read. */
export function assertReadable({ customers, apps }: Deps, accessScope: AccessScope, id: string): void {
  const customer = customers.findById(id)
  if (customer !== null && appsInScope(accessScope, apps).some((app) => app.id === customer.app_id)) return
  throw unknownCustomer(id)
}
