/** What has been asked for: kept, shown while it is asked again, tried again. A thin hook over query-core. */
import { QueryClient, QueryObserver, type QueryObserverResult } from '@tanstack/query-core'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { addressOf, Problem, type Query, read } from './http.ts'

const MINUTE = 60_000

const SECOND = 1_000
/** A question that had no place among those under way is asked again so often before the page says so. */
const MAX_RATE_LIMIT_RETRIES = 10

const shouldRetry = (failures: number, error: Error): boolean => {
  if (!(error instanceof Problem)) return false
  if (error.status === 429) return failures < MAX_RATE_LIMIT_RETRIES
  return failures < 2 && (error.status === 0 || error.status >= 500)
}

/** As long as the server says; else a second, two, four. */
const retryDelay = (failures: number, error: Error): number =>
  ((error instanceof Problem && error.retryAfter) || 2 ** failures) * SECOND

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 20_000,
      gcTime: 30 * MINUTE,
      retry: shouldRetry,
      retryDelay: retryDelay,
      // What a person looks at is told even while the network is away.
      networkMode: 'always',
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
    },
  },
})
client.mount()

/** `data` stays while newer is asked for; `problem` with data means that it is of `at` and could not be renewed. */
export type QueryResult<Answer> = {
  data: Answer | undefined
  problem: Problem | null
  /** Asked for and not there yet, nor anything older. */
  isPending: boolean
  /** What is shown belongs to the question before this one. */
  isPrevious: boolean
  at: number
  retry: () => void
}

type QueryOptions = {
  /** Asks again every so many milliseconds while the page is seen. */
  every?: number
  /** Not to be asked yet. */
  wait?: boolean
}

/** Under which the answer to `GET path?query` is kept. */
export const queryKey = (path: string, query: Query = {}) => [path, addressOf(path, query)] as const

/** The answer to `GET path?query`, kept in `client` under its address, so that whoever else asks for that has it, too. */
export function useQuery<Answer>(
  path: string,
  query: Query = {},
  queryOptions: QueryOptions = {},
): QueryResult<Answer> {
  const { every, wait = false } = queryOptions
  const [, address] = queryKey(path, query)
  const options = useMemo(
    () => ({
      queryKey: queryKey(path, query),
      queryFn: ({ signal }: { signal: AbortSignal }) => read<Answer>(path, query, signal),
      enabled: !wait,
      refetchInterval: every ?? (false as const),
      placeholderData: (previous: Answer | undefined) => previous,
    }),
    [address, wait, every],
  )
  // One observer for the life of the component.
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

/** Anything that was thrown, as a problem. */
export const problemFrom = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(0, 'unexpected', String(error))

/** Forgets what was kept below some paths, so that what is on the page is asked again. */
export const invalidate = (...paths: string[]): Promise<void> =>
  client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => paths.some((start) => String(path).startsWith(start)),
  })
