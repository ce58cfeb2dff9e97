/** The prompts of `windfall connect`, at a terminal or through a pipe. */
import { createInterface } from 'node:readline/promises'
import { Refusal } from '../../errors.ts'

export type Prompt = ReturnType<typeof openPrompt>

type Streams = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream }

/**
 * Asks line by line. Lines that arrive early are kept for their question, which allows piping in a script as a
 * whole.
 */
export function openPrompt({ input, output }: Streams) {
  const lines = createInterface({ input, output, terminal: 'isTTY' in output && output.isTTY === true })
  const waiting: string[] = []
  let ended = false
  let wake = (): void => undefined
  lines.on('line', (line) => {
    waiting.push(line)
    wake()
  })
  // readline takes Ctrl-C from the terminal: pass it on.
  lines.on('SIGINT', () => void process.kill(process.pid, 'SIGINT'))
  lines.on('close', () => {
    ended = true
    wake()
  })

  const print = (text = ''): void => void output.write(`${text}\n`)

  async function nextLine(): Promise<string> {
    while (waiting.length === 0 && !ended) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    const line = waiting.shift()
    if (line === undefined) throw new Refusal(400, 'stopped', 'stopped before the end')
    return line.trim()
  }

  /** Asks a question and returns the answer; `fallback` if it is empty. */
  async function ask(question: string, fallback: string | null = null): Promise<string> {
    const prompt = `${question}${fallback === null ? '' : ` [${fallback}]`}: `
    if (ended) output.write(prompt)
    else {
      lines.setPrompt(prompt)
      lines.prompt()
    }
    const answer = await nextLine()
    return answer === '' ? (fallback ?? '') : answer
  }

  /** Asks a yes-or-no question until the answer is one of both. */
  async function confirm(question: string, fallback: boolean): Promise<boolean> {
    for (;;) {
      const answer = answerIn(await ask(`${question} (${fallback ? 'Y/n' : 'y/N'})`), fallback)
      if (typeof answer === 'boolean') return answer
      print('   Please answer y or n.')
    }
  }

  /** Yes, no, or directly the value that yes would ask for: a path or a number. */
  async function confirmOrGive(question: string): Promise<boolean | string> {
    for (;;) {
      const answer = answerIn(await ask(`${question} (Y/n)`), true)
      if (typeof answer === 'boolean' || /[\d./\\]/.test(answer)) return answer
      print('   Please answer y or n, or enter the value.')
    }
  }

  return { print, ask, confirm, confirmOrGive, close: () => lines.close() }
}

function answerIn(text: string, fallback: boolean): boolean | string {
  if (text === '') return fallback
  if (/^y(es)?$/i.test(text)) return true
  return /^no?$/i.test(text) ? false : text
}
