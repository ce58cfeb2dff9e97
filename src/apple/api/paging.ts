/** Reads all pages of a list of the App Store Connect API. */
import * as v from 'valibot'
import { AppleFault } from './faults.ts'

/** More pages of 200 than any account has. Ends a cycle of links. */
const MAX_PAGES = 500

/** The schema of a page of a list. `next`: the absolute URL of the next page; null on the last page. */
export type Page<T> = v.GenericSchema<unknown, { items: T[]; next: string | null }>

/** A page of `item` in JSON:API. `next`: the absolute URL of the next page; null on the last page. */
export const pageOf = <T>(item: v.GenericSchema<unknown, T>) =>
  v.pipe(
    v.object({
      data: v.array(item),
      links: v.optional(v.nullable(v.object({ next: v.optional(v.nullable(v.string()), null) })), null),
    }),
    v.transform(({ data, links }) => ({ items: data, next: links?.next ?? null })),
  )

/** Apple's link to the next page. @throws AppleFault `unreadable` for another host, which must not get the token. */
function nextPageUrl(next: string, host: string): URL {
  const url = URL.parse(next)
  if (url !== null && url.origin === new URL(host).origin) return url
  const where = url === null ? 'nowhere' : url.origin
  throw new AppleFault(
    'unreadable',
    `The next page of Apple’s list is at ${where}, not at ${host}: Windfall does not follow the link.`,
  )
}

/**
 * All items of a list that begins at `first`. `read` fetches one page. Throws AppleFault `unreadable` for a link to
 * another host or an endless list.
 */
export async function readAllPages<T>(
  first: URL,
  read: (url: URL) => Promise<{ items: T[]; next: string | null }>,
): Promise<T[]> {
  const all: T[] = []
  const visited = new Set<string>()
  let url = first
  while (visited.size < MAX_PAGES && !visited.has(url.href)) {
    visited.add(url.href)
    const { items, next } = await read(url)
    all.push(...items)
    if (next === null) return all
    url = nextPageUrl(next, first.origin)
  }
  throw new AppleFault('unreadable', `Apple’s list at ${first.pathname} has too many pages.`)
}
