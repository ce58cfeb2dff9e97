/** `/api/v1/customers/{id}/transactions` and `links`: parts of a profile as lists, which have a CSV. */
import * as v from 'valibot'
import type { Auth } from '../../access/auth.ts'
import type { Apps } from '../../apps/apps.ts'
import type { Clock } from '../../clock.ts'
import type { Route } from '../../http/route.ts'
import type { Customers } from '../../metrics/customers/customers.ts'
import type { Rates } from '../../rates/rates.ts'
import { defineList } from '../lists.ts'
import { DisplayParam, openDisplay } from '../metrics/display.ts'
import { CUSTOMER_WAIT_MS, READ_ROUTE } from '../route_defaults.ts'
import { LinksAnswer, TransactionsAnswer } from './answers.ts'
import { assertReadable, unknownCustomer } from './readable.ts'

type Deps = { customers: Customers; apps: Apps; auth: Auth; rates: Rates; clock: Clock }

export function purchaseRoutes({ customers, apps, auth, ...deps }: Deps): Route[] {
  const display = openDisplay(deps)

  function profileOf(caller: Parameters<typeof assertReadable>[1], id: string) {
    assertReadable({ customers, apps }, caller, id)
    const profile = customers.profile(id)
    if (profile === null) throw unknownCustomer(id)
    return profile
  }

  return [
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/customers/:id/transactions',
      summary: 'Lists the transactions of one customer, newest first',
      access: auth.reader,
      query: v.object(DisplayParam),
      answer: { description: 'All transactions, as in the profile', schema: TransactionsAnswer },
      refusals: { 404: 'unknown_customer' },
      async read({ caller, params: { id }, query }, wait_ms) {
        await customers.waitUntilCurrent([id], { timeout_ms: wait_ms ?? CUSTOMER_WAIT_MS })
        const { transactions } = display.profile(profileOf(caller, id), query.display_currency)
        return { transactions: [...transactions] }
      },
    }),
    ...defineList(auth, {
      ...READ_ROUTE,
      path: '/api/v1/customers/:id/links',
      summary: 'Lists the users that the purchases of one customer are linked to',
      access: auth.reader,
      answer: { description: 'The current links, as in the profile', schema: LinksAnswer },
      refusals: { 404: 'unknown_customer' },
      read: ({ caller, params: { id } }) => ({ links: profileOf(caller, id).links }),
    }),
  ]
}
