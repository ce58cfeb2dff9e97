/** The heading of a view. It names the browser's tab, and a change of the view moves the focus to it. */
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'

/** The path whose heading had the focus last; null until the first view is shown. */
let announcedPath: string | null = null

/**
 * Renders the `h1` of a view. Screen readers announce a new view by it (WCAG 2.4.2 and 2.4.3). The first view does not
 * take the focus: the browser announces it.
 */
export function Title({
  class: className,
  children,
}: {
  class?: string
  children: ComponentChildren
}): JSX.Element {
  const { path } = useLocation()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const text = heading.current?.textContent?.trim()
    document.title = text ? `${text} · Windfall` : 'Windfall'
  })
  useEffect(() => {
    // A heading that replaces the one of a loading view has lost its focus.
    const isLost = document.activeElement === null || document.activeElement === document.body
    if (announcedPath !== null && (announcedPath !== path || isLost))
      heading.current?.focus({ preventScroll: announcedPath === path })
    announcedPath = path
  }, [path])
  return (
    <h1 ref={heading} class={className} tabIndex={-1}>
      {children}
    </h1>
  )
}
