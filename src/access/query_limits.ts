/** What we remember: which expensive questions each guest and read token has under way, so that none takes all the time. */
import type { H3Event } from 'h3'
import { Refusal } from '../errors.ts'

/** Of one caller: questions under way, and those of a guest that wait for one of them to end, and for how long. */
const MAX_RUNNING = 2
const MAX_WAITING = 64
const WAIT_MS = 10_000

/** A caller of whom only so many questions are answered at once. `waits`: further ones wait instead of being refused. */
type QueryLimit = { id: string; canWait: boolean }

type Handler = (event: H3Event) => unknown
type Waiter = { begin: () => void }
type CallerQueue = { running: number; waiting: Waiter[] }

/**
 * Opens the gate of expensive questions. Each caller has two under way; a further one of a token is refused, and one of
 * a guest waits for up to ten seconds, because a page asks several questions at once and cannot know of its other tabs.
 * `rationOf` identifies the caller, gives null for one without a limit, and throws for one without access.
 */
export function openQueryLimiter(limitOf: (event: H3Event) => QueryLimit | null) {
  const callerQueues = new Map<string, CallerQueue>()

  /** Resolves once the caller may ask. @throws Refusal 429 `too_many_questions`. */
  async function enter({ id, canWait }: QueryLimit): Promise<CallerQueue> {
    const callerQueue = callerQueues.get(id) ?? { running: 0, waiting: [] }
    callerQueues.set(id, callerQueue)
    if (callerQueue.running < MAX_RUNNING) callerQueue.running += 1
    else if (canWait && callerQueue.waiting.length < MAX_WAITING) await waitForTurn(callerQueue)
    else throw tooMany()
    return callerQueue
  }

  /** The next of those that wait takes the place of the question that has ended. */
  function leave(id: string, callerQueue: CallerQueue): void {
    const next = callerQueue.waiting.shift()
    if (next) return next.begin()
    callerQueue.running -= 1
    if (callerQueue.running === 0) callerQueues.delete(id)
  }

  /** A handler of an expensive question, with the gate before it. A body that is a stream is under way to its end. */
  function limited(handler: Handler): Handler {
    return async function limitedHandler(event) {
      const caller = limitOf(event)
      if (caller === null) return handler(event)
      const callerQueue = await enter(caller)
      let isOver = false
      const end = (): void => {
        if (!isOver) leave(caller.id, callerQueue)
        isOver = true
      }
      try {
        // A client that disconnected while it waited needs no answer.
        if (event.runtime?.node?.res?.closed) throw tooMany()
        const given = await handler(event)
        if (given instanceof Response && given.body !== null) return onBodyEnd(given, given.body, end)
        end()
        return given
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

/** The response, with `end` called once its body has been read, failed or given up. */
function onBodyEnd(response: Response, body: ReadableStream<Uint8Array>, end: () => void): Response {
  const reader = body.getReader()
  const followed = new ReadableStream<Uint8Array>({
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
  return new Response(followed, { status: response.status, headers: response.headers })
}

function tooMany(): Refusal {
  const headers = { 'retry-after': '1' }
  const detail = `you have ${MAX_RUNNING} questions of this kind under way; ask again once one of them is answered`
  return new Refusal(429, 'too_many_questions', detail, { headers })
}
