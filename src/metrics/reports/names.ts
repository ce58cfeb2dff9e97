/** Stores the product ids and the lengths of upfront offers that reports contain. */
import type { Products } from '../../apps/products.ts'
import type { Store } from '../../store/store.ts'
import type { DayNumber } from '../lineage/calendar.ts'

type OfferLengthRow = { app_id: string; number: string; offer: string; period: string; day: DayNumber }
export type OfferLength = Pick<OfferLengthRow, 'number' | 'offer' | 'period'>

export type ReportedNames = ReturnType<typeof openReportedNames>

export function openReportedNames(store: Store, products: Products) {
  const putProduct = store.prepare<[string, string, string]>(`
    insert into reported_products (app_id, number, product_id) values (?, ?, ?)
    on conflict (app_id, number) do update set product_id = excluded.product_id
      where product_id <> excluded.product_id`)
  const productsOfApp = store.prepare<[string], { number: string; product_id: string }>(
    'select number, product_id from reported_products where app_id = ?',
  )
  const putLength = store.prepare<OfferLengthRow>(`
    insert into reported_lengths (app_id, number, offer, period, day) values (:app_id, :number, :offer, :period, :day)
    on conflict (app_id, number, offer) do update set period = excluded.period, day = excluded.day
      where excluded.day >= day`)
  const findLength = store.prepare<[string, string, string], { period: string }>(
    'select period from reported_lengths where app_id = ? and number = ? and offer = ?',
  )
  const namesOf = store.cached(['reported_products', 'products'], (app_id) => {
    const pairs = productsOfApp.all(app_id).map(({ number, product_id }) => [number, product_id] as const)
    const listed = products
      .list(app_id)
      .flatMap(({ apple_id, product_id }) => (apple_id === null ? [] : [[apple_id, product_id] as const]))
    return new Map([...pairs, ...listed])
  })

  return {
    /** The id of the product with this number from Apple; the number itself if the id is unknown. */
    productOf: (app_id: string, number: string): string => namesOf(app_id).get(number) ?? number,
    learnProduct: (app_id: string, number: string, product_id: string): void =>
      void putProduct.run(app_id, number, product_id),
    /** Stores an offer’s length, unless a newer day has been stored. Runs inside a unit of work. */
    learnLength: (app_id: string, day: DayNumber, offerLength: OfferLength): void =>
      void putLength.run({ ...offerLength, app_id, day }),
    lengthOf: (app_id: string, number: string, offer_name: string | null): string | null =>
      findLength.get(app_id, number, offer_name ?? '')?.period ?? null,
  }
}
