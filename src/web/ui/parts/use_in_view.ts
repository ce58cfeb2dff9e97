/** A hook that tracks whether an element is near the viewport, for lazy loading. */
import { useEffect, useState } from 'preact/hooks'

/** Distance below the viewport at which loading starts. */
const AHEAD = '400px'

/** Callbacks by observed element. */
const callbacks = new Map<Element, () => void>()
const observer = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) callbacks.get(target)?.()
  },
  { rootMargin: AHEAD },
)
// Printing needs all elements.
window.addEventListener('beforeprint', () => {
  for (const notify of [...callbacks.values()]) notify()
})

/** `ref` is the ref of the element. Once in view, it stays so. */
export function useInView(): { isInView: boolean; ref: (element: Element | null) => void } {
  const [isInView, setInView] = useState(false)
  const [element, ref] = useState<Element | null>(null)
  useEffect(() => {
    if (element === null || isInView) return
    callbacks.set(element, () => setInView(true))
    observer.observe(element)
    return () => {
      callbacks.delete(element)
      observer.unobserve(element)
    }
  }, [element, isInView])
  return { isInView, ref }
}
