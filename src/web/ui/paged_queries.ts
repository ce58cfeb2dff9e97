/** Paged queries: the first page loads as a normal query, further pages on request. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type Problem, type Query, read } from './http.ts'
import { client, problemFrom, type QueryResult, useQuery } from './queries.ts'

type Page = { next: string | number | null }
/** `from`: the first page's `next` when the other pages were loaded. */
type LoadedPages<Answer> = {
  key: string
  from: Page['next']
  pages: Answer[]
  isBusy: boolean
  problem: Problem | null
}
type CachedPages<Answer> = Pick<LoadedPages<Answer>, 'from' | 'pages'>

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

/** `cursor` is the parameter for `next` of the previous page. Loaded pages stay cached across navigation. */
export function usePagedQuery<Answer extends Page>(
  path: string,
  query: Query,
  cursor: 'cursor' | 'before',
  wait = false,
): Paged<Answer> {
  const first = useQuery<Answer>(path, query, { wait })
  const key = JSON.stringify([path, query])
  const cacheKey = useMemo(() => [path, { ...query, pages: 'more' }], [key])
  const initialPages = (): LoadedPages<Answer> => ({
    ...(client.getQueryData<CachedPages<Answer>>(cacheKey) ?? { from: null, pages: [] }),
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
      client.setQueryData<CachedPages<Answer>>(cacheKey, { from: loaded.from, pages: loaded.pages })
  }, [loaded])

  /** Loads pages until there are `pageCount`, including `existing`. */
  async function fetchPages(from: Page['next'], existing: Answer[], pageCount: number): Promise<void> {
    setLoaded({ ...current, isBusy: true, problem: null })
    try {
      const some = [...existing]
      for (let at = (some.at(-1) ?? { next: from }).next; at !== null && some.length < pageCount; ) {
        const page = await read<Answer>(path, { ...query, [cursor]: at })
        some.push(page)
        at = page.next
      }
      setLoaded({ key, from, pages: some, isBusy: false, problem: null })
    } catch (error) {
      setLoaded({ ...current, isBusy: false, problem: problemFrom(error) })
    }
  }

  const firstCursor = isStale ? null : (first.data?.next ?? null)
  // New items have moved the end of the first page, so reload the others from there to leave no hole.
  useEffect(() => {
    if (!isStale && current.pages.length > 0 && current.from !== firstCursor)
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
