/** The current time. The only module of the page that reads the clock. */
import { useEffect, useState } from 'preact/hooks'

/** The current instant, updated every `interval_ms` milliseconds. */
export function useNow(interval_ms = 30_000): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), interval_ms)
    return () => clearInterval(timer)
  }, [interval_ms])
  return now
}

/** The current instant. */
export const currentTime = (): number => Date.now()
