/** The time, for words like "5 minutes ago": the one place of the page that looks at a clock. */
import { useEffect, useState } from 'preact/hooks'

/** The present instant, told anew every so many milliseconds. */
export function useNow(every = 30_000): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), every)
    return () => clearInterval(timer)
  }, [every])
  return now
}

/** The present instant, for what happens once. */
export const currentTime = (): number => Date.now()
