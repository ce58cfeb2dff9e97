/** A hook that tracks whether an element is in or near the viewport, for lazy loading. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { whenIdle } from './idle.ts'

/** Distance below the viewport within which an element loads once the page is idle. */
const NEAR_MARGIN = '400px'

/** Callbacks by observed element. */
const callbacks = new Map<Element, () => void>()

function observerOf(rootMargin: string, notify: (element: Element) => void): IntersectionObserver {
  const onChange = (entries: IntersectionObserverEntry[]): void => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) notify(target)
  }
  return new IntersectionObserver(onChange, { rootMargin })
}
const notify = (element: Element): void => callbacks.get(element)?.()

/** Opened at the first use, because tests without a browser import this file. */
function openObservers(): IntersectionObserver[] {
  // Printing needs all elements, so treat all as in view.
  window.addEventListener('beforeprint', () => {
    for (const notifyElement of [...callbacks.values()]) notifyElement()
  })
  return [observerOf('0px', notify), observerOf(NEAR_MARGIN, (element) => whenIdle(() => notify(element)))]
}
let opened: IntersectionObserver[] | undefined
const observers = (): IntersectionObserver[] => {
  opened ??= openObservers()
  return opened
}

function observe(element: Element, onInView: () => void): void {
  callbacks.set(element, onInView)
  for (const observer of observers()) observer.observe(element)
}

function unobserve(element: Element): void {
  if (callbacks.delete(element)) for (const observer of observers()) observer.unobserve(element)
}

const isVisible = (element: Element): boolean => {
  const { top, bottom } = element.getBoundingClientRect()
  return top < window.innerHeight && bottom > 0
}

/**
 * Pass `ref` to the element. `isInView` becomes true when the element is visible, or when it is near and the page is
 * idle, and stays true. For an element that is visible at first it is true before the first effects, so that all of them
 * read in one request; if `isLoaded` says that its answers are there, it is true once the page is idle, because
 * rendering it again would change nothing.
 */
export function useInView(): {
  isInView: boolean
  ref: (element: Element | null) => void
  isLoaded: { current: boolean }
} {
  const [isInView, setInView] = useState(false)
  const isLoaded = useRef(false)
  const added = useRef<Element | null>(null)
  const watched = useRef<Element | null>(null)
  const ref = useCallback((element: Element | null) => {
    added.current = element
  }, [])
  const unwatch = useCallback(() => {
    if (watched.current) unobserve(watched.current)
    watched.current = null
  }, [])
  // Measured when the whole view is there: in `ref`, each measurement between two insertions would cost a layout.
  useLayoutEffect(() => {
    const element = added.current
    if (isInView) return unwatch()
    if (element === watched.current) return
    unwatch()
    if (element === null) return
    watched.current = element
    const note = (): void => setInView(true)
    if (!isVisible(element)) observe(element, note)
    else if (isLoaded.current) whenIdle(note)
    else note()
  })
  useEffect(() => unwatch, [])
  return { isInView, ref, isLoaded }
}
