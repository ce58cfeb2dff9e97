/** Paged queries: the first page loads as a normal query, further pages on request. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type Problem, type Query, read } from './http.ts'
import { client, problemFrom, type QueryOptions, type QueryResult, useQuery } from './queries.ts'

type Page = { next: string | number | null }
/** `pages` are the pages after the first. `firstNext` was `next` of the first page when they were loaded. */
type LoadedPages<Answer> = {
  key: string
  firstNext: Page['next']
  pages: Answer[]
  isBusy: boolean
  problem: Problem | null
}
type CachedPages<Answer> = Pick<LoadedPages<Answer>, 'firstNext' | 'pages'>

export type Paged<Answer> = {
  /** The query state of the first page. */
  first: QueryResult<Answer>
  /** All loaded pages, including the first. */
  pages: Answer[]
  /** Loads the next page; null after the last. */
  more: (() => void) | null
  isBusy: boolean
  problem: Problem | null
}

/**
 * `cursor` is the name of the parameter that receives `next` of the previous page. Loaded pages stay cached across
 * navigation.
 */
export function usePagedQuery<Answer extends Page>(
  path: string,
  query: Query,
  cursor: 'cursor' | 'before',
  options: QueryOptions = {},
): Paged<Answer> {
  const first = useQuery<Answer>(path, query, options)
  const key = JSON.stringify([path, query])
  const cacheKey = useMemo(() => [path, { ...query, pages: 'more' }], [key])
  const initialPages = (): LoadedPages<Answer> => ({
    ...(client.getQueryData<CachedPages<Answer>>(cacheKey) ?? { firstNext: null, pages: [] }),
    key,
    isBusy: false,
    problem: null,
  })
  const [loaded, setLoaded] = useState(initialPages)
  const current = loaded.key === key ? loaded : initialPages()
  const isStale = first.isPrevious || first.data === undefined
  const pages = first.data === undefined ? [] : isStale ? [first.data] : [first.data, ...current.pages]
  const next = isStale ? null : (pages.at(-1)?.next ?? null)

  useEffect(() => {
    if (loaded.key === key && loaded.pages.length > 0)
      client.setQueryData<CachedPages<Answer>>(cacheKey, { firstNext: loaded.firstNext, pages: loaded.pages })
  }, [loaded])

  /** Loads pages after `existing` until `pageCount` pages are loaded. */
  async function fetchPages(firstNext: Page['next'], existing: Answer[], pageCount: number): Promise<void> {
    setLoaded({ ...current, isBusy: true, problem: null })
    try {
      const fetched = [...existing]
      for (
        let at = (fetched.at(-1) ?? { next: firstNext }).next;
        at !== null && fetched.length < pageCount;
      ) {
        const page = await read<Answer>(path, { ...query, [cursor]: at })
        fetched.push(page)
        at = page.next
      }
      setLoaded({ key, firstNext, pages: fetched, isBusy: false, problem: null })
    } catch (error) {
      setLoaded({ ...current, isBusy: false, problem: problemFrom(error) })
    }
  }

  const firstCursor = isStale ? null : (first.data?.next ?? null)
  // New items move the end of the first page. Reload the other pages from there, so that no item is left out.
  useEffect(() => {
    if (!isStale && current.pages.length > 0 && current.firstNext !== firstCursor)
      void fetchPages(firstCursor, [], current.pages.length)
  }, [key, firstCursor])

  return {
    first,
    pages,
    more: next === null ? null : () => void fetchPages(firstCursor, current.pages, current.pages.length + 1),
    isBusy: current.isBusy,
    problem: current.problem,
  }
}
