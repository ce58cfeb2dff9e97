/** Reads what a view needs first in parallel with the session, in a browser whose last session has not ended. */

import { viewAt } from '../addresses.ts'
import type { Query } from '../http.ts'
import { overviewQuery } from '../overview.ts'
import { client, queryKey } from '../queries.ts'
import { scopeFrom } from '../scope.ts'
import type { Session } from '../session.ts'
import { readTogether } from './batched_reads.ts'

/** Set while the browser has a session, so that nothing is read in vain on the way to sign in. */
const STORAGE_KEY = 'signed_in'
/** The views whose figures wait for today’s date or need the definitions. */
const VIEWS_OF_FIGURES = /^\/(?:$|(?:revenue|subscriptions|retention|metrics)(?:\/|$))/

export function noteSession({ state }: Pick<Session, 'state'>): void {
  if (state === 'owner' || state === 'guest') localStorage.setItem(STORAGE_KEY, 'yes')
  else localStorage.removeItem(STORAGE_KEY)
}

/** A read that fails here is read again by the view. */
function readEarly(path: string, query: Query = {}): void {
  void client.prefetchQuery({
    queryKey: queryKey(path, query),
    queryFn: ({ signal }) => readTogether(path, query, signal),
    retry: false,
  })
}

export function readForView({ pathname, search }: Pick<Location, 'pathname' | 'search'>): void {
  if (localStorage.getItem(STORAGE_KEY) === null || viewAt(pathname)?.view === 'sign_in') return
  readEarly('/api/v1/apps')
  if (!VIEWS_OF_FIGURES.test(pathname)) return
  readEarly('/api/v1/metrics')
  readEarly('/api/v1/overview', overviewQuery(scopeFrom(Object.fromEntries(new URLSearchParams(search)))))
}
