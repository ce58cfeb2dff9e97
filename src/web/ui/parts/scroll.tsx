/** A scrollable region that is reachable by keyboard. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

type ScrollProps = {
  label: string
  class?: string
  /** Show the end first, as for months in order of time. */
  startsAtEnd?: boolean
  children: ComponentChildren
}

export function Scroll({ label, class: className, startsAtEnd = false, children }: ScrollProps): JSX.Element {
  const region = useRef<HTMLElement>(null)
  useEffect(() => {
    if (startsAtEnd && region.current) region.current.scrollLeft = region.current.scrollWidth
  }, [startsAtEnd])
  return (
    <section
      ref={region}
      class={className ? `table-wrap ${className}` : 'table-wrap'}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
      tabIndex={0}
      aria-label={label}
    >
      {children}
    </section>
  )
}
