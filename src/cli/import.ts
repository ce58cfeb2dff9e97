/** The command `windfall import`: Apple's daily reports fetched now, with how far it is. */
import { setTimeout } from 'node:timers/promises'
import { defineCommand } from 'citty'
import type { Organization } from '../apps/organizations.ts'
import { Refusal } from '../errors.ts'
import {
  type ImportRun,
  type Progress,
  type Stopped,
  stopInWords,
  summaryOf,
} from '../ledger/reports/tally.ts'
import { type Ask, configArg, organizationArg, print, remark, shownAt, withInstance } from './instance.ts'

type Answer = { joined: boolean; run: ImportRun; organizations: Organization[] }

/** How often it is asked how far it is: where the line is drawn anew, and where each is one more. */
const LOOK_MS = 250
const LINE_EVERY_MS = 10_000
const BAR = 24

export const importCommand = defineCommand({
  meta: { name: 'import', description: 'Fetch Apple’s daily reports that are not here yet, oldest first' },
  args: {
    days: {
      type: 'string',
      valueHint: 'N',
      description: 'Only the last N days; else the year that Apple keeps',
    },
    ...organizationArg,
    ...configArg,
  },
  async run({ args }) {
    const asked = {
      organization: args.organization ?? null,
      days: args.days === undefined ? null : daysOf(args.days),
    }
    const { joined, run, organizations } = await withInstance(args.config, (ask) => follow(ask, asked))
    if (joined) remark('An import was under way already; this is what came of it.')
    print(`${summaryOf({ ...run, stopped: [] })}.`)
    const several = organizations.length > 1
    const nameOf = ({ organization_id }: Stopped): string =>
      several ? `${organizations.find(({ id }) => id === organization_id)?.slug ?? organization_id}: ` : ''
    for (const skipped of run.skipped) remark(`${nameOf(skipped)}Nothing was asked: ${skipped.reason}.`)
    for (const stopped of run.stopped) remark(`${nameOf(stopped)}${stopInWords(stopped)}`)
    if (run.failed > 0)
      remark('Failed days are tried again by themselves. /api/v1/imports says why they failed.')
    if (run.failed > 0 || run.stopped.length > 0 || run.skipped.length > 0) process.exitCode = 1
  },
})

function daysOf(text: string): number {
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (days >= 1 && days <= 400) return days
  throw new Refusal(400, 'invalid_request', `--days takes a number from 1 to 400; ${text} is none`)
}

/** Runs it and shows how far it is, until it is done. */
async function follow(ask: Ask, asked: object): Promise<Answer> {
  const show = process.stderr.isTTY ? drawer(process.stderr) : teller()
  const ended = new AbortController()
  const done = ask<Answer>('imports.run', asked).finally(() => ended.abort())
  const showing = showUntil(ended.signal, async () => {
    const { progress } = await ask<{ progress: Progress | null }>('imports.status', {})
    if (progress && !ended.signal.aborted) show.progress(progress)
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
    // Where it cannot be asked how far it is, the run itself says what is wrong.
    if (!ended.aborted) await look().catch(() => {})
  }
}

/** One line at a terminal, drawn anew. */
const drawer = (terminal: NodeJS.WriteStream) => ({
  progress(progress: Progress): void {
    const text = `${barOf(progress)} ${inWords(progress)}`
    terminal.write(`\r\u001b[K${text.slice(0, Math.max(20, terminal.columns - 1))}`)
  },
  end: (): void => void terminal.write('\r\u001b[K'),
})

/** Lines now and then, for what is no terminal. */
function teller() {
  let told_at: number | null = null
  return {
    progress(progress: Progress): void {
      const now = performance.now()
      if (told_at !== null && now - told_at < LINE_EVERY_MS) return
      told_at = now
      remark(inWords(progress))
    },
    end: (): void => {},
  }
}

function barOf({ done, of }: Progress): string {
  const full = of === 0 ? 0 : Math.floor((done / of) * BAR)
  return `[${'█'.repeat(full)}${'·'.repeat(BAR - full)}]`
}

/** How far a run is, in a line. */
export function inWords({ done, of, per_second, seconds_left, reading, waiting_until }: Progress): string {
  const parts = [`${done} of ${of} daily reports`]
  if (per_second !== null) parts.push(`${per_second.toFixed(1)} a second`)
  if (seconds_left !== null && done < of) parts.push(`${durationOf(seconds_left)} left`)
  if (waiting_until !== null) parts.push(`waiting for Apple’s hourly budget until ${shownAt(waiting_until)}`)
  else if (reading !== null) parts.push(`${reading.kind.replace('_', ' ')} of ${reading.day}`)
  return parts.join(', ')
}

/** Seconds as people say them. */
export function durationOf(seconds: number): string {
  if (seconds < 90) return `${seconds} s`
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`
}
