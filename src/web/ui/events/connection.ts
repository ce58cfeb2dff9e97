/** One connection to the live stream, opened again whenever it is lost, and let go while nobody looks. */

const AGAIN_MS = [1_000, 2_000, 5_000, 15_000]
/** A page that nobody looks at holds no connection: a browser has but six for a host. */
const LEAVE_AFTER_MS = 30_000

type Connecting = {
  address: string
  onOpen: () => void
  onMessage: (data: string) => void
  /** `isRefused`: the server said no, where otherwise the browser tries again by itself. */
  onLost: (isRefused: boolean) => void
}

/** Stays connected until the returned function is called. */
export function openConnection({ address, onOpen, onMessage, onLost }: Connecting): () => void {
  let source: EventSource | null = null
  let failures = 0
  let opening: ReturnType<typeof setTimeout> | undefined
  let leaving: ReturnType<typeof setTimeout> | undefined

  function open(): void {
    if (source) return
    const opened = new EventSource(address)
    source = opened
    opened.onmessage = (message: MessageEvent<string>) => onMessage(message.data)
    opened.onopen = () => {
      failures = 0
      onOpen()
    }
    opened.onerror = () => {
      const isRefused = opened.readyState === EventSource.CLOSED
      onLost(isRefused)
      if (!isRefused) return
      source = null
      opening = setTimeout(open, AGAIN_MS[Math.min(failures++, AGAIN_MS.length - 1)])
    }
  }

  function close(): void {
    source?.close()
    source = null
    clearTimeout(opening)
  }

  function look(): void {
    clearTimeout(leaving)
    if (document.hidden) leaving = setTimeout(close, LEAVE_AFTER_MS)
    else open()
  }

  document.addEventListener('visibilitychange', look)
  open()
  return () => {
    close()
    clearTimeout(leaving)
    document.removeEventListener('visibilitychange', look)
  }
}
