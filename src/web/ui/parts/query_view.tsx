/** States of a query: empty, loading, failed and stale. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Problem } from '../http.ts'
import type { QueryResult } from '../queries.ts'
import { clock } from '../words.ts'
import { Icon, type IconName } from './icons.tsx'

type EmptyProps = { icon?: IconName; title: string; children?: ComponentChildren }
/** The empty state, with the next step as children. */
export const Empty = ({ icon = 'dot', title, children }: EmptyProps): JSX.Element => (
  <div class="state">
    <Icon name={icon} />
    <h3>{title}</h3>
    {children}
  </div>
)

/** The error state with a retry button. */
export const Failed = ({ problem, retry }: { problem: Problem; retry: () => void }): JSX.Element => (
  <div class="state" role="alert">
    <Icon name={problem.code === 'offline' ? 'offline' : 'warning'} />
    <h3>{problem.code === 'offline' ? 'No connection' : 'Something went wrong'}</h3>
    <p>{problem.message}</p>
    <button type="button" class="button" onClick={retry}>
      Try again
    </button>
  </div>
)

/**
 * A loading placeholder with the height of the content, which avoids layout shift. It becomes visible after a delay.
 */
export const Placeholder = ({ height }: { height: number }): JSX.Element => (
  <div class="ghost" style={{ height: `${height}px` }} role="status" aria-label="Loading" />
)

type LoadedProps<Answer> = {
  result: QueryResult<Answer>
  /** Expected height in pixels. */
  height: number
  children: (data: Answer) => ComponentChildren
}

/** Renders the data, or the loading or error state. */
export function QueryView<Answer>({ result, height, children }: LoadedProps<Answer>): JSX.Element {
  const { data, problem, retry, at, isPrevious } = result
  if (data === undefined)
    return problem ? <Failed problem={problem} retry={retry} /> : <Placeholder height={height} />
  return (
    <div class={isPrevious ? 'is-earlier' : undefined} aria-busy={isPrevious}>
      {problem && !isPrevious && <StaleNotice at={at} problem={problem} retry={retry} />}
      {children(data)}
    </div>
  )
}

/** A notice that the data could not be refreshed. */
const StaleNotice = ({
  at,
  problem,
  retry,
}: {
  at: number
  problem: Problem
  retry: () => void
}): JSX.Element => (
  <p class="notice warn" role="status">
    <Icon name={problem.code === 'offline' ? 'offline' : 'warning'} />
    <span>
      Last updated {clock(at)}: {problem.message}{' '}
      <button type="button" class="button plain" onClick={retry}>
        Try again
      </button>
    </span>
  </p>
)

/** Whether the browser is online. */
export function useOnline(): boolean {
  const [isOnline, setOnline] = useState(navigator.onLine)
  useEffect(() => {
    const update = (): void => setOnline(navigator.onLine)
    window.addEventListener('online', update)
    window.addEventListener('offline', update)
    return () => {
      window.removeEventListener('online', update)
      window.removeEventListener('offline', update)
    }
  }, [])
  return isOnline
}
