/** The query hook and cache, based on query-core. */
import { hashKey, QueryClient, QueryObserver, type QueryObserverResult } from '@tanstack/query-core'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { addressOf, Problem, type Query } from './http.ts'
import { readTogether } from './loading/batched_reads.ts'

const MINUTE_MS = 60_000

const SECOND_MS = 1_000
/** Retries of requests that the server's concurrency limit refused. */
const MAX_RATE_LIMIT_RETRIES = 10

/** Whether a read is tried again after so many failures. */
export const shouldRetry = (failures: number, error: Error): boolean => {
  if (!(error instanceof Problem)) return false
  if (error.status === 429) return failures < MAX_RATE_LIMIT_RETRIES
  return failures < 2 && (error.status === 0 || error.status >= 500)
}

/** Milliseconds before a retry: Retry-After if the server sent it, otherwise 1, 2, 4 … seconds. */
const retryDelay = (failures: number, error: Error): number =>
  ((error instanceof Problem && error.retryAfter) || 2 ** failures) * SECOND_MS

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      // An address is unique, and hashing the key of each query in each rendering takes time.
      queryKeyHashFn: (key) => (typeof key[1] === 'string' ? key[1] : hashKey(key)),
      staleTime: 20_000,
      gcTime: 30 * MINUTE_MS,
      retry: shouldRetry,
      retryDelay: retryDelay,
      // Errors are shown even while offline.
      networkMode: 'always',
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
    },
  },
})
client.mount()

/**
 * `data` stays available during a refetch. If both `problem` and `data` are set, a refetch failed and `data` is from
 * `at`.
 */
export type QueryResult<Answer> = {
  data: Answer | undefined
  problem: Problem | null
  /** The query is loading and has no older data. */
  isPending: boolean
  /** The data belongs to the previous query. */
  isPrevious: boolean
  at: number
  retry: () => void
}

export type QueryOptions = {
  /** Refetch interval in milliseconds while the page is visible. */
  interval_ms?: number
  /** Do not fetch yet. */
  wait?: boolean
}

const SHOWN_PROPS = ['data', 'error', 'isPending', 'isPlaceholderData'] as const

/** The cache key of a GET request. */
export const queryKey = (path: string, query: Query = {}) => [path, addressOf(path, query)] as const

/** The response to `GET path?query`, cached in `client` and shared by all components. */
export function useQuery<Answer>(
  path: string,
  query: Query = {},
  queryOptions: QueryOptions = {},
): QueryResult<Answer> {
  const { interval_ms, wait = false } = queryOptions
  const key = queryKey(path, query)
  const [, address] = key
  const options = useMemo(
    () => ({
      queryKey: key,
      queryFn: ({ signal }: { signal: AbortSignal }) => readTogether<Answer>(path, query, signal),
      enabled: !wait,
      refetchInterval: interval_ms ?? (false as const),
      placeholderData: (previous: Answer | undefined) => previous,
      // What is shown; without this, each beginning of a request would render the view again.
      notifyOnChangeProps: SHOWN_PROPS,
    }),
    [address, wait, interval_ms],
  )
  // The observer stays the same for the lifetime of the component.
  const observer = useMemo(() => new QueryObserver<Answer, Error>(client, options as never), [])
  const [, rerender] = useState(0)
  useEffect(() => observer.subscribe(() => rerender((count) => count + 1)), [observer])
  observer.setOptions(options as never)
  return toQueryResult(observer.getOptimisticResult(client.defaultQueryOptions(options as never)))
}

function toQueryResult<Answer>(result: QueryObserverResult<Answer, Error>): QueryResult<Answer> {
  const { data, error, isPending, isPlaceholderData, dataUpdatedAt, refetch } = result
  return {
    data,
    problem: error === null ? null : problemFrom(error),
    isPending,
    isPrevious: isPlaceholderData,
    at: dataUpdatedAt,
    retry: () => void refetch(),
  }
}

/** Any thrown value as a `Problem`. */
export const problemFrom = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(0, 'unexpected', String(error))

/** Invalidates cached queries by path prefix; visible ones are refetched. */
export const invalidate = (...paths: string[]): Promise<void> =>
  client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => paths.some((start) => String(path).startsWith(start)),
  })
