/** Lists that come a page at a time: the first as any answer, the others when somebody asks for more. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type Asked, client, problemFrom, useAnswer } from './answers.ts'
import { type Problem, type Query, read } from './http.ts'

type Page = { next: string | number | null }
/** `from`: what the first page gave as `next` when the others were asked for. */
type More<Answer> = {
  key: string
  from: Page['next']
  pages: Answer[]
  isBusy: boolean
  problem: Problem | null
}
type Kept<Answer> = Pick<More<Answer>, 'from' | 'pages'>

export type Paged<Answer> = {
  /** Of the first page; what it says stands for all. */
  first: Asked<Answer>
  /** All that are there, the first among them. */
  pages: Answer[]
  /** Asks for the next; null after the last. */
  more: (() => void) | null
  isBusy: boolean
  problem: Problem | null
}

/** `cursor` is the parameter that takes `next` of the page before. What was asked for stays for who comes back. */
export function usePages<Answer extends Page>(
  path: string,
  query: Query,
  cursor: 'cursor' | 'before',
  wait = false,
): Paged<Answer> {
  const first = useAnswer<Answer>(path, query, { wait })
  const key = JSON.stringify([path, query])
  const place = useMemo(() => [path, { ...query, pages: 'more' }], [key])
  const beginning = (): More<Answer> => ({
    ...(client.getQueryData<Kept<Answer>>(place) ?? { from: null, pages: [] }),
    key,
    isBusy: false,
    problem: null,
  })
  const [kept, keep] = useState(beginning)
  const now = kept.key === key ? kept : beginning()
  const isOver = first.isEarlier || first.data === undefined
  const pages = first.data === undefined ? [] : isOver ? [first.data] : [first.data, ...now.pages]
  const next = isOver ? null : (pages.at(-1)?.next ?? null)

  useEffect(() => {
    if (kept.key === key && kept.pages.length > 0)
      client.setQueryData<Kept<Answer>>(place, { from: kept.from, pages: kept.pages })
  }, [kept])

  /** Asks for so many pages after one, those that are there already among them. */
  async function ask(from: Page['next'], present: Answer[], many: number): Promise<void> {
    keep({ ...now, isBusy: true, problem: null })
    try {
      const some = [...present]
      for (let at = (some.at(-1) ?? { next: from }).next; at !== null && some.length < many; ) {
        const page = await read<Answer>(path, { ...query, [cursor]: at })
        some.push(page)
        at = page.next
      }
      keep({ key, from, pages: some, isBusy: false, problem: null })
    } catch (error) {
      keep({ ...now, isBusy: false, problem: problemFrom(error) })
    }
  }

  const beginsAt = isOver ? null : (first.data?.next ?? null)
  // What came since has moved the first page's end: the others are asked again from there, so that none is left out.
  useEffect(() => {
    if (!isOver && now.pages.length > 0 && now.from !== beginsAt) void ask(beginsAt, [], now.pages.length)
  }, [key, beginsAt])

  return {
    first,
    pages,
    more: next === null ? null : () => void ask(beginsAt, now.pages, now.pages.length + 1),
    isBusy: now.isBusy,
    problem: now.problem,
  }
}
