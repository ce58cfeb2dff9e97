/** Talks with a probe: an app without a screen that reads calls and prints what they lead to, as lines of JSON. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { atEndOfEachFile } from '../closing.ts'

export type Line = Record<string, unknown>

const living = new Set<ChildProcess>()
atEndOfEachFile(() => {
  for (const child of living) child.kill('SIGKILL')
})

/** Starts a probe by its command line. `answer` gives what to send in return for a line, or null. */
export function startProcess(
  [command = '', ...args]: readonly string[],
  answer: (line: Line) => object | null = () => null,
) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  living.add(child)
  const lines: Line[] = []
  const listeners = new Set<(line: Line) => void>()
  const failures = new Set<(error: Error) => void>()
  const ended = new Promise<void>((resolve) =>
    child.once('close', () => {
      living.delete(child)
      for (const fail of failures) fail(new Error(`the probe ended after ${JSON.stringify(lines.at(-1))}`))
      resolve()
    }),
  )
  // A probe that was killed takes no commands.
  child.stdin.on('error', () => {})
  createInterface(child.stdout).on('line', (text) => {
    const line = JSON.parse(text) as Line
    lines.push(line)
    const returned = answer(line)
    if (returned) send(returned)
    for (const heard of listeners) heard(line)
  })

  function send(command: object): void {
    child.stdin.write(`${JSON.stringify(command)}\n`)
  }

  /** The next line with this field. Rejects if the probe ends before. */
  function next(field: string, is = (_: Line): boolean => true): Promise<Line> {
    return new Promise((resolve, reject) => {
      failures.add(reject)
      const heard = (line: Line): void => {
        if (line[field] === undefined || !is(line)) return
        listeners.delete(heard)
        failures.delete(reject)
        resolve(line)
      }
      listeners.add(heard)
    })
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    await ended
  }

  return { lines, send, next, kill }
}
