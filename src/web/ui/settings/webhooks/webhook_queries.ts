/** Queries of webhooks: endpoints, deliveries and replays. Owner only. */
import type { InferOutput } from 'valibot'
import type {
  CreatedEndpointAnswer,
  DeliveriesAnswer,
  DeliveryAnswer,
  EndpointAnswer,
  EndpointsAnswer,
  ReplayAnswer,
  ReplaysAnswer,
} from '../../../../api/forwarding/answers.ts'
import { client, invalidate, type QueryResult, queryKey, useQuery } from '../../queries.ts'

export type Endpoint = InferOutput<typeof EndpointAnswer>
export type Endpoints = InferOutput<typeof EndpointsAnswer>
export type CreatedEndpoint = InferOutput<typeof CreatedEndpointAnswer>
export type Deliveries = InferOutput<typeof DeliveriesAnswer>
export type DeliverySummary = Deliveries['deliveries'][number]
export type Delivery = InferOutput<typeof DeliveryAnswer>
export type Attempt = Delivery['attempt_log'][number]
export type Replay = InferOutput<typeof ReplayAnswer>

export const ENDPOINTS_PATH = '/api/v1/endpoints'
const DELIVERIES_PATH = '/api/v1/deliveries'

/** What changes while it is looked at is read again at this interval, while the page is visible. */
const LIVE_MS = 2_000
const LIST_MS = 10_000
const HELD_MS = 60_000

/** The path of an endpoint, or of one of its actions, such as `pause`. */
export const endpointPath = (id: string, action?: string): string =>
  `${ENDPOINTS_PATH}/${encodeURIComponent(id)}${action === undefined ? '' : `/${action}`}`

/** The path of a delivery. */
export const deliveryPath = (id: string): string => `${DELIVERIES_PATH}/${encodeURIComponent(id)}`

export const useEndpoints = (): QueryResult<Endpoints> =>
  useQuery<Endpoints>(ENDPOINTS_PATH, {}, { interval_ms: LIST_MS })
/** Why outgoing requests are held; null if they are sent, or not known. */
export const useHeld = (isOwner: boolean): Endpoints['held'] =>
  useQuery<Endpoints>(ENDPOINTS_PATH, {}, { interval_ms: HELD_MS, wait: !isOwner }).data?.held ?? null
export const useEndpoint = (id: string): QueryResult<Endpoint> =>
  useQuery<Endpoint>(endpointPath(id), {}, { interval_ms: LIVE_MS })
export const useReplays = (id: string): QueryResult<InferOutput<typeof ReplaysAnswer>> =>
  useQuery<InferOutput<typeof ReplaysAnswer>>(endpointPath(id, 'replays'), {}, { interval_ms: LIVE_MS })
export const useDelivery = (id: string): QueryResult<Delivery> =>
  useQuery<Delivery>(deliveryPath(id), {}, { interval_ms: LIVE_MS })

/** The deliveries on a page: fewer on a phone, where each takes several lines and other cards follow. */
const PAGE_SIZE = matchMedia('(max-width: 640px)').matches ? 10 : 25

type DeliveryFilters = { endpoint: string; state: string; type: string; customer: string; event: string }
/** One page of deliveries, newest first. `before` is null on the first page, which alone is read again. */
export const useDeliveries = (filters: DeliveryFilters, before: number | null): QueryResult<Deliveries> =>
  useQuery<Deliveries>(
    DELIVERIES_PATH,
    { ...filters, before, limit: PAGE_SIZE },
    // A search for customers reads more than a list.
    before === null ? { interval_ms: filters.customer === '' ? LIVE_MS : LIST_MS } : {},
  )

/** Reads endpoints, deliveries and replays again, after a change. */
export const refreshWebhooks = (): Promise<void> => invalidate(ENDPOINTS_PATH, DELIVERIES_PATH)

/** Removes a deleted endpoint from the list. Its own page cannot be read again. */
export const forgetEndpoint = (id: string): void =>
  void client.setQueryData<Endpoints>(
    queryKey(ENDPOINTS_PATH),
    (before) => before && { ...before, endpoints: before.endpoints.filter((one) => one.id !== id) },
  )
