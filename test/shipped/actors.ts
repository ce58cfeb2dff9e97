/** Starts the processes of the world around the server, asks them, and ends them with the test file. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { atEndOfFile } from '../closing.ts'
import type { Answered, Question, Questions } from './world/answering.ts'

/** The questions as promises. */
type Asked<Own extends Questions> = {
  [Name in keyof Own]: (...args: Parameters<Own[Name]>) => Promise<Awaited<ReturnType<Own[Name]>>>
}

/** Starts the program `world/NAME.ts`. `complaints` is what it wrote to its standard error. */
export async function startActor<Own extends Questions>(name: string, args: unknown = null) {
  const file = fileURLToPath(new URL(`./world/${name}.ts`, import.meta.url))
  const child = fork(file, [JSON.stringify(args)], {
    serialization: 'advanced',
    execArgv: ['--no-warnings'],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  let complaints = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const ready = Promise.withResolvers<void>()
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  child.once('close', () => {
    const error = new Error(`the process ${name} has ended:\n${complaints}`)
    ready.reject(error)
    for (const { reject } of waiting.values()) reject(error)
  })
  child.on('message', (message: Answered | 'ready') => {
    if (message === 'ready') return ready.resolve()
    const asked = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.error === undefined) asked?.resolve(message.value)
    else asked?.reject(new Error(`${name}: ${message.error}`))
  })
  atEndOfFile(() => {
    child.kill('SIGKILL')
    return ended
  })
  await ready.promise
  let last = 0

  function ask(question: string, value: unknown): Promise<unknown> {
    last += 1
    const promise = Promise.withResolvers<unknown>()
    waiting.set(last, promise)
    child.send({ id: last, name: question, args: value } satisfies Question)
    return promise.promise
  }

  const asked = new Proxy({} as Asked<Own>, {
    get: (_, question) => (value: unknown) => ask(String(question), value),
  })
  return { ask: asked, complaints: () => complaints }
}
