/** Shows the progress of a long-running verb: a bar at a terminal, otherwise a line now and then. */
import { setTimeout } from 'node:timers/promises'
import { printError, type SendVerb } from './instance.ts'

/** The progress that every long-running verb reports. */
type Steps = { done: number; of: number }

/** `verb` does the work. Meanwhile `status` answers `{ progress }`, null if there is nothing to show. */
type LongVerb<Progress extends Steps> = {
  verb: string
  args: object
  status: string
  progressText: (progress: Progress) => string
}

/** How often to ask for the progress, and how often to print it without a terminal. */
const LOOK_MS = 1_000
const LINE_EVERY_MS = 10_000
const BAR = 24

/** Runs a long-running verb and shows its progress. Returns its answer, and throws what it throws. */
export async function follow<Answer, Progress extends Steps>(
  send: SendVerb,
  { verb, args, status, progressText }: LongVerb<Progress>,
): Promise<Answer> {
  const show = process.stderr.isTTY ? barPrinter(process.stderr) : linePrinter()
  const ended = new AbortController()
  const done = send<Answer>(verb, args).finally(() => ended.abort())
  const showing = showUntil(ended.signal, async () => {
    const { progress } = await send<{ progress: Progress | null }>(status, {})
    if (progress && !ended.signal.aborted) show.progress(progress, progressText(progress))
  })
  try {
    return await done
  } finally {
    await showing
    show.end()
  }
}

async function showUntil(ended: AbortSignal, look: () => Promise<void>): Promise<void> {
  while (!ended.aborted) {
    await setTimeout(LOOK_MS, undefined, { signal: ended }).catch(() => {})
    // If the status fails, the verb itself reports the error.
    if (!ended.aborted) await look().catch(() => {})
  }
}

/** One line at a terminal, redrawn. */
const barPrinter = (terminal: NodeJS.WriteStream) => ({
  progress(steps: Steps, words: string): void {
    terminal.write(`\r\u001b[K${`${barOf(steps)} ${words}`.slice(0, Math.max(20, terminal.columns - 1))}`)
  },
  end: (): void => void terminal.write('\r\u001b[K'),
})

/** A line now and then, without a terminal. */
function linePrinter() {
  let printed_at: number | null = null
  return {
    progress(_: Steps, words: string): void {
      const now = performance.now()
      if (printed_at !== null && now - printed_at < LINE_EVERY_MS) return
      printed_at = now
      printError(words)
    },
    end: (): void => {},
  }
}

function barOf({ done, of }: Steps): string {
  const full = of === 0 ? 0 : Math.floor((done / of) * BAR)
  return `[${'█'.repeat(full)}${'·'.repeat(BAR - full)}]`
}
