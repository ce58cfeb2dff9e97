/** Whether a part of a view is in sight or nearly so: what is further down need not be asked for yet. */
import { useEffect, useState } from 'preact/hooks'

/** How far below what is seen, so that it is there once one has scrolled to it. */
const AHEAD = '400px'

/** What is to be told of each watched element. */
const callbacks = new Map<Element, () => void>()
const observer = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) callbacks.get(target)?.()
  },
  { rootMargin: AHEAD },
)
// Paper has no further down.
window.addEventListener('beforeprint', () => {
  for (const notify of [...callbacks.values()]) notify()
})

/** `place` is the `ref` of the element that it is about. Once near, it is for good. */
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
