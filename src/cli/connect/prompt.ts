/** The prompts of `windfall connect`, at a terminal or through a pipe. */
import { createInterface } from 'node:readline/promises'
import { Refusal } from '../../errors.ts'

export type Prompt = ReturnType<typeof openPrompt>

type Streams = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream }

/**
 * Reads answers line by line. A line that arrives before its question waits in a queue, so that all answers can be
 * piped in at once.
 */
export function openPrompt({ input, output }: Streams) {
  const lines = createInterface({ input, output, terminal: 'isTTY' in output && output.isTTY === true })
  const lineQueue: string[] = []
  let isInputClosed = false
  let wake = (): void => undefined
  lines.on('line', (line) => {
    lineQueue.push(line)
    wake()
  })
  // On a terminal, readline catches Ctrl-C. Send the signal to this process.
  lines.on('SIGINT', () => void process.kill(process.pid, 'SIGINT'))
  lines.on('close', () => {
    isInputClosed = true
    wake()
  })

  const print = (text = ''): void => void output.write(`${text}\n`)

  async function nextLine(): Promise<string> {
    while (lineQueue.length === 0 && !isInputClosed) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    const line = lineQueue.shift()
    if (line === undefined) throw new Refusal(400, 'stopped', 'stopped before the end')
    return line.trim()
  }

  /** Prompts with a question and returns the answer; `fallback` if the answer is empty. */
  async function ask(question: string, fallback: string | null = null): Promise<string> {
    const prompt = `${question}${fallback === null ? '' : ` [${fallback}]`}: `
    if (isInputClosed) output.write(prompt)
    else {
      lines.setPrompt(prompt)
      lines.prompt()
    }
    const answer = await nextLine()
    return answer === '' ? (fallback ?? '') : answer
  }

  /** Repeats a yes-or-no question until the answer is yes or no. */
  async function confirm(question: string, fallback: boolean): Promise<boolean> {
    for (;;) {
      const answer = parseYesNo(await ask(`${question} (${fallback ? 'Y/n' : 'y/N'})`), fallback)
      if (typeof answer === 'boolean') return answer
      print('   Please answer y or n.')
    }
  }

  /** Prompts for yes or no. Also accepts a path or number, which the next question would otherwise prompt for. */
  async function confirmOrEnter(question: string): Promise<boolean | string> {
    for (;;) {
      const answer = parseYesNo(await ask(`${question} (Y/n)`), true)
      if (typeof answer === 'boolean' || /[\d./\\]/.test(answer)) return answer
      print('   Please answer y or n, or enter the value.')
    }
  }

  return { print, ask, confirm, confirmOrEnter, close: () => lines.close() }
}

function parseYesNo(text: string, fallback: boolean): boolean | string {
  if (text === '') return fallback
  if (/^y(es)?$/i.test(text)) return true
  return /^no?$/i.test(text) ? false : text
}
