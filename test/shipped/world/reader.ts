/** A process: a program that reads the stream of events, and continues after the last one that it has. */
import { setTimeout as pass } from 'node:timers/promises'
import { answer, givenArguments } from './answering.ts'

type Arguments = { url: string; token: string }
/** An event of the stream. */
export type ReadEvent = { seq: number; id: string; type: string }

const { url, token } = givenArguments<Arguments>()
const PAUSE_MS = 300
const read: ReadEvent[] = []
let isEnding = false
let opened = 0
const ending = new AbortController()

/** Takes the messages of one connection, until it ends. */
async function readOnce(): Promise<void> {
  const after = read.at(-1)?.seq
  const headers = { authorization: `Bearer ${token}`, 'last-event-id': String(after ?? 0) }
  const { body, ok } = await fetch(`${url}/api/v1/events/stream`, { headers, signal: ending.signal })
  if (!ok || body === null) return
  opened += 1
  let text = ''
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const messages = (text + chunk).split('\n\n')
    text = messages.pop() ?? ''
    for (const message of messages) {
      const data = /^data: (.*)$/m.exec(message)?.[1]
      if (data === undefined) continue
      const { seq, id, type } = JSON.parse(data)
      read.push({ seq, id, type })
    }
  }
}

async function live(): Promise<void> {
  while (!isEnding) {
    await readOnce().catch(() => {})
    await pass(PAUSE_MS)
  }
}

const living = live()

export type ReaderQuestions = typeof questions
const questions = {
  async end(): Promise<void> {
    isEnding = true
    ending.abort()
    await living
  },
  seen: () => ({ read, opened }),
}
answer(questions)
