/** A hook that tells whether a media query applies. */
import { useEffect, useState } from 'preact/hooks'

export function useMedia(query: string): boolean {
  const [applies, setApplies] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const onChange = (): void => setApplies(list.matches)
    list.addEventListener('change', onChange)
    return () => list.removeEventListener('change', onChange)
  }, [query])
  return applies
}
