/** A value that follows typing only after a pause. */
import { useEffect, useState } from 'preact/hooks'

const PAUSE_MS = 250

/** Returns `value` as it was at the last pause. */
export function useDebounced<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
