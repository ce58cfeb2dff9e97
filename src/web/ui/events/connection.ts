/** A connection to the live stream that reconnects when lost and closes while the page is hidden. */

const RETRY_MS = [1_000, 2_000, 5_000, 15_000]
/** A hidden page closes its connection after this time, because browsers allow only six connections per host. */
const HIDDEN_TIMEOUT_MS = 30_000

type ConnectionOptions = {
  address: string
  onOpen: () => void
  onMessage: (data: string) => void
  /** `isRefused` is true if the server refused the connection. If false, the browser reconnects automatically. */
  onLost: (isRefused: boolean) => void
}

/** Opens the connection. Returns a function that closes it. */
export function openConnection({ address, onOpen, onMessage, onLost }: ConnectionOptions): () => void {
  let source: EventSource | null = null
  let failures = 0
  let retryTimer: ReturnType<typeof setTimeout> | undefined
  let closeTimer: ReturnType<typeof setTimeout> | undefined

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
      retryTimer = setTimeout(open, RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)])
    }
  }

  function close(): void {
    source?.close()
    source = null
    clearTimeout(retryTimer)
  }

  function onVisibilityChange(): void {
    clearTimeout(closeTimer)
    if (document.hidden) closeTimer = setTimeout(close, HIDDEN_TIMEOUT_MS)
    else open()
  }

  document.addEventListener('visibilitychange', onVisibilityChange)
  open()
  return () => {
    close()
    clearTimeout(closeTimer)
    document.removeEventListener('visibilitychange', onVisibilityChange)
  }
}
