/** Finds an app and products of an organization, so that a test event is about something that its receiver knows. */
import type { App, Apps } from '../../apps/apps.ts'
import type { Store } from '../../store/store.ts'
import type { Endpoint } from '../endpoints/endpoints.ts'

/** An app, and at most two of its products. */
export type OwnThings = { app: Pick<App, 'id' | 'bundle_id'> | null; product_ids: readonly string[] }

type Deps = { store: Pick<Store, 'prepare'>; apps: Pick<Apps, 'list'> }

/** Returns a function that finds an app that an endpoint receives, and its products of a kind in Apple’s words. */
export function openOwnThings({ store, apps }: Deps) {
  const selectListed = store.prepare<[string], { product_id: string }>(
    'select product_id from products where app_id = ? and gone_at is null order by product_id limit 2',
  )
  // An app can have millions of transactions, and the first ones name its products as well.
  const selectBought = store.prepare<[string, string], { product_id: string }>(`
    select distinct product_id from (select product_id, kind from transactions where app_id = ? limit 1000)
    where kind = ? order by product_id limit 2`)

  function productsOf(app_id: string, kind: string): { product_id: string }[] {
    const listed = kind === 'Auto-Renewable Subscription' ? selectListed.all(app_id) : []
    return listed.length > 0 ? listed : selectBought.all(app_id, kind)
  }

  return (
    { organization_id, apps: ids }: Pick<Endpoint, 'organization_id' | 'apps'>,
    kind: string,
  ): OwnThings => {
    const app = apps
      .list()
      .find((one) => one.organization_id === organization_id && (ids === null || ids.includes(one.id)))
    if (app === undefined) return { app: null, product_ids: [] }
    return { app, product_ids: productsOf(app.id, kind).map(({ product_id }) => product_id) }
  }
}
