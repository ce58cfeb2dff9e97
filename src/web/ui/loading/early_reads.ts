/** Reads what a view needs first in parallel with the session, in a browser whose last session has not ended. */

import { viewAt } from '../addresses.ts'
import type { Query } from '../http.ts'
import { overviewQuery } from '../overview.ts'
import { client, queryKey, shouldRetry } from '../queries.ts'
import { scopeFrom } from '../scope.ts'
import type { Session } from '../session.ts'
import { batchOf, readTogether } from './batched_reads.ts'
import { whenIdle } from './idle.ts'
import {
  earlyAnswersThere,
  FEED,
  feedRead,
  forgetReads,
  readsSentEarly,
  rememberReads,
} from './remembered_reads.ts'

/** Set while the browser has a session, so that nothing is read in vain on the way to sign in. */
const STORAGE_KEY = 'signed_in'
/** The views whose figures wait for today’s date or need the definitions. */
const VIEWS_OF_FIGURES = /^\/(?:$|(?:revenue|refunds|subscriptions|retention|metrics)(?:\/|$))/

/** Notes whether the browser has a session, and remembers what the first view reads. */
export function noteSession({ state }: Pick<Session, 'state'>): void {
  if (state === 'owner' || state === 'guest') {
    localStorage.setItem(STORAGE_KEY, 'yes')
    const { pathname, search } = location
    // Later than what becomes visible when the page is idle, whose reads are sent by then and not answered.
    whenIdle(() => setTimeout(() => rememberShown(pathname, search)))
    return
  }
  localStorage.removeItem(STORAGE_KEY)
  forgetReads()
}

/** Remembers what the view shows, unless the viewer is at another one by now. */
function rememberShown(pathname: string, search: string): void {
  const view = viewAt(pathname)
  const isSame = location.pathname === pathname && location.search === search
  // The addresses of single customers and events are not stored.
  if (!isSame || !view || !(view.view === 'metric' || 'navigation' in view)) return
  const shown = client
    .getQueryCache()
    .findAll({ type: 'active', predicate: ({ state }) => state.status === 'success' })
  const addresses = [...shown.map(({ queryKey: [, read] }) => String(read)), ...feedRead()]
  rememberReads(pathname + search, batchOf(addresses))
}

/** A read that fails here is read again by the view, unless `retry` does so before. */
function readEarly(
  path: string,
  query: Query = {},
  retry: typeof shouldRetry | false = false,
): Promise<void> {
  const [, address] = queryKey(path, query)
  return client.prefetchQuery({
    queryKey: [path, address],
    queryFn: ({ signal }) => readTogether(address, {}, signal),
    retry,
  })
}

/** As `readEarly`, of an address with its parameters. */
function readEarlyAt(address: string): Promise<void> {
  const [path = '', params] = address.split('?')
  return readEarly(path, Object.fromEntries(new URLSearchParams(params)))
}

/** Begins the reads of the first view. Resolves when the session and what was sent with the page are there. */
export async function readForView({
  pathname,
  search,
}: Pick<Location, 'pathname' | 'search'>): Promise<void> {
  const session = readEarly('/api/v1/session', {}, shouldRetry)
  if (localStorage.getItem(STORAGE_KEY) === null || viewAt(pathname)?.view === 'sign_in') return session
  const addresses = readsSentEarly().map((read) => `/api/v1/${read}`)
  // The feed takes its answer itself, because it is not in the cache of queries.
  const early = addresses.filter((address) => !address.startsWith(FEED)).map(readEarlyAt)
  void readEarly('/api/v1/apps')
  if (VIEWS_OF_FIGURES.test(pathname)) {
    void readEarly('/api/v1/metrics')
    void readEarly(
      '/api/v1/overview',
      overviewQuery(scopeFrom(Object.fromEntries(new URLSearchParams(search)))),
    )
  }
  await Promise.all([session, earlyAnswersThere, ...early])
}
