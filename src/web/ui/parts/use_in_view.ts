/** A hook that tracks whether an element is near the viewport, for lazy loading. */
import { useEffect, useState } from 'preact/hooks'

/** Distance below the viewport at which loading starts. */
const LOAD_MARGIN = '400px'

/** Callbacks by observed element. */
const callbacks = new Map<Element, () => void>()
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) callbacks.get(target)?.()
  },
  { rootMargin: LOAD_MARGIN },
)
// Printing needs all elements, so treat all as in view.
window.addEventListener('beforeprint', () => {
  for (const notify of [...callbacks.values()]) notify()
})

/** Pass `ref` to the element. `isInView` stays true once the element has been in view. */
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
