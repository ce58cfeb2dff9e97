/** Shows the progress of a long-running verb: a bar on a terminal, otherwise one line every ten seconds. */

import { setTimeout } from 'node:timers/promises'
import { preciseTime } from '../../clock.ts'
import type { SendVerb } from './instance.ts'
import { printError } from './output.ts'

/** The progress that every long-running verb reports: `done` of `of` items. */
type Steps = { done: number; of: number }

/** `verb` does the work. Meanwhile the verb `status` returns `{ progress }`; null means that no progress is known. */
type LongVerb<Progress extends Steps> = {
  verb: string
  args: object
  status: string
  progressText: (progress: Progress) => string
}

/** The interval at which the progress is requested, and at which it is printed without a terminal. */
const POLL_MS = 1_000
const LINE_EVERY_MS = 10_000
const BAR_WIDTH = 24

/** Runs a long-running verb and shows its progress. Returns its answer, and throws what it throws. */
export async function follow<Answer, Progress extends Steps>(
  send: SendVerb,
  { verb, args, status, progressText }: LongVerb<Progress>,
): Promise<Answer> {
  const printer = progressPrinter()
  const ended = new AbortController()
  const done = send<Answer>(verb, args).finally(() => ended.abort())
  const showing = pollUntil(ended.signal, async () => {
    const { progress } = await send<{ progress: Progress | null }>(status, {})
    if (progress && !ended.signal.aborted) printer.progress(progress, progressText(progress))
  })
  try {
    return await done
  } finally {
    await showing
    printer.end()
  }
}

async function pollUntil(ended: AbortSignal, poll: () => Promise<void>): Promise<void> {
  while (!ended.aborted) {
    await setTimeout(POLL_MS, undefined, { signal: ended }).catch(() => {})
    // If the status fails, the verb itself reports the error.
    if (!ended.aborted) await poll().catch(() => {})
  }
}

/** Prints progress as a bar on a terminal, otherwise as one line every ten seconds. */
export const progressPrinter = () => (process.stderr.isTTY ? barPrinter(process.stderr) : linePrinter())

/** Redraws one line on a terminal. */
const barPrinter = (terminal: NodeJS.WriteStream) => ({
  progress(steps: Steps, text: string): void {
    terminal.write(`\r\u001b[K${`${barOf(steps)} ${text}`.slice(0, Math.max(20, terminal.columns - 1))}`)
  },
  end: (): void => void terminal.write('\r\u001b[K'),
})

/** Prints a line every `LINE_EVERY_MS`, without a terminal. */
function linePrinter() {
  let printed_ms: number | null = null
  return {
    progress(_: Steps, text: string): void {
      const now = preciseTime()
      if (printed_ms !== null && now - printed_ms < LINE_EVERY_MS) return
      printed_ms = now
      printError(text)
    },
    end: (): void => {},
  }
}

function barOf({ done, of }: Steps): string {
  const filledWidth = of === 0 ? 0 : Math.floor((done / of) * BAR_WIDTH)
  return `[${'█'.repeat(filledWidth)}${'·'.repeat(BAR_WIDTH - filledWidth)}]`
}
