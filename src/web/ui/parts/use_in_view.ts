/** Whether a part of a view is in sight or nearly so: what is further down need not be asked for yet. */
import { useEffect, useState } from 'preact/hooks'

/** How far below what is seen, so that it is there once one has scrolled to it. */
const AHEAD = '400px'

/** What is to be told of each watched element. */
const waiting = new Map<Element, () => void>()
const watching = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) waiting.get(target)?.()
  },
  { rootMargin: AHEAD },
)
// Paper has no further down.
window.addEventListener('beforeprint', () => {
  for (const tell of [...waiting.values()]) tell()
})

/** `place` is the `ref` of the element that it is about. Once near, it is for good. */
export function useNear(): { isNear: boolean; place: (element: Element | null) => void } {
  const [isNear, setNear] = useState(false)
  const [element, place] = useState<Element | null>(null)
  useEffect(() => {
    if (element === null || isNear) return
    waiting.set(element, () => setNear(true))
    watching.observe(element)
    return () => {
      waiting.delete(element)
      watching.unobserve(element)
    }
  }, [element, isNear])
  return { isNear, place }
}
