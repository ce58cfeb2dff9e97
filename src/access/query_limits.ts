/** Limits the concurrent expensive queries of each share link and read token, so that none uses all server time. */
import type { H3Event } from 'h3'
import { Refusal } from '../errors.ts'

/** The limits of one caller: running queries and, for a guest, waiting queries and the time that each may wait. */
const MAX_RUNNING = 2
const MAX_WAITING = 64
const WAIT_MS = 10_000

/** A caller with a limit. `canWait`: further queries wait; otherwise they are refused. */
type QueryLimit = { id: string; canWait: boolean }

type Handler = (event: H3Event) => unknown
type Waiter = { begin: () => void }
type CallerQueue = { running: number; waiting: Waiter[] }

/**
 * Opens the limiter. Each caller can run two queries at a time. A further query of a token is refused; one of a guest
 * waits for up to ten seconds, because a page sends several queries at the same time and does not know of other tabs.
 * `limitOf` identifies the caller. It returns null for a caller without a limit, and throws for one without access.
 */
export function openQueryLimiter(limitOf: (event: H3Event) => QueryLimit | null) {
  const callerQueues = new Map<string, CallerQueue>()

  /** Resolves once the caller may run a query. @throws Refusal 429 `too_many_questions`. */
  async function enter({ id, canWait }: QueryLimit): Promise<CallerQueue> {
    const callerQueue = callerQueues.get(id) ?? { running: 0, waiting: [] }
    callerQueues.set(id, callerQueue)
    if (callerQueue.running < MAX_RUNNING) callerQueue.running += 1
    else if (canWait && callerQueue.waiting.length < MAX_WAITING) await waitForTurn(callerQueue)
    else throw tooMany()
    return callerQueue
  }

  /** Ends a query and starts the next that waits. */
  function leave(id: string, callerQueue: CallerQueue): void {
    const next = callerQueue.waiting.shift()
    if (next) return next.begin()
    callerQueue.running -= 1
    if (callerQueue.running === 0) callerQueues.delete(id)
  }

  /** Wraps a handler with the limit. A response with a streamed body counts as running until the stream ends. */
  function limited(handler: Handler): Handler {
    return async function limitedHandler(event) {
      const caller = limitOf(event)
      if (caller === null) return handler(event)
      const callerQueue = await enter(caller)
      let hasEnded = false
      const end = (): void => {
        if (!hasEnded) leave(caller.id, callerQueue)
        hasEnded = true
      }
      try {
        // A client that disconnected while it waited needs no answer.
        if (event.runtime?.node?.res?.closed) throw tooMany()
        const result = await handler(event)
        if (result instanceof Response && result.body !== null) return onBodyEnd(result, result.body, end)
        end()
        return result
      } catch (error) {
        end()
        throw error
      }
    }
  }

  return limited
}

function waitForTurn({ waiting }: CallerQueue): Promise<void> {
  return new Promise((resolve, reject) => {
    const waiter: Waiter = {
      begin: () => {
        clearTimeout(timer)
        resolve()
      },
    }
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(waiter), 1)
      reject(tooMany())
    }, WAIT_MS)
    waiting.push(waiter)
  })
}

/** Returns an equal response that calls `end` once its body was read, failed or was canceled. */
function onBodyEnd(response: Response, body: ReadableStream<Uint8Array>, end: () => void): Response {
  const reader = body.getReader()
  const trackedBody = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read()
        if (!done) return controller.enqueue(value)
        end()
        controller.close()
      } catch (error) {
        end()
        throw error
      }
    },
    cancel(reason) {
      end()
      return reader.cancel(reason)
    },
  })
  return new Response(trackedBody, { status: response.status, headers: response.headers })
}

function tooMany(): Refusal {
  const headers = { 'retry-after': '1' }
  const detail = `${MAX_RUNNING} queries of this kind are already running; try again once one has finished`
  return new Refusal(429, 'too_many_questions', detail, { headers })
}
