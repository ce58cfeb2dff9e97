/** Lists that come a page at a time: the first as any answer, the others when somebody asks for more. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { type Asked, client, problemFrom, useAnswer } from './answers.ts'
import { type Problem, type Query, read } from './asking.ts'

type Page = { next: string | number | null }
type More<Answer> = { key: string; pages: Answer[]; isBusy: boolean; problem: Problem | null }

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
    key,
    pages: client.getQueryData<Answer[]>(place) ?? [],
    isBusy: false,
    problem: null,
  })
  const [kept, keep] = useState(beginning)
  const now = kept.key === key ? kept : beginning()
  const isOver = first.isEarlier || first.data === undefined
  const pages = first.data === undefined ? [] : isOver ? [first.data] : [first.data, ...now.pages]
  const next = isOver ? null : (pages.at(-1)?.next ?? null)

  useEffect(() => {
    if (kept.key === key && kept.pages.length > 0) client.setQueryData(place, kept.pages)
  }, [kept])

  async function more(): Promise<void> {
    keep({ ...now, isBusy: true, problem: null })
    try {
      const page = await read<Answer>(path, { ...query, [cursor]: next })
      keep({ key, pages: [...now.pages, page], isBusy: false, problem: null })
    } catch (error) {
      keep({ ...now, isBusy: false, problem: problemFrom(error) })
    }
  }

  return {
    first,
    pages,
    more: next === null ? null : () => void more(),
    isBusy: now.isBusy,
    problem: now.problem,
  }
}
