/** The current time. The only module of the page that reads the clock. */
import { useEffect, useState } from 'preact/hooks'

/** The current instant, updated every `every` milliseconds. */
export function useNow(every = 30_000): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every)
    return () => clearInterval(timer)
  }, [every])
  return now
}

/** The current instant. */
export const currentTime = (): number => Date.now()
