/** The command `windfall jobs`: what happens by the clock, and doing it at once. */
import { defineCommand } from 'citty'
import { Refusal } from '../errors.ts'
import type { JobState } from '../jobs/jobs.ts'
import { columns, configArg, print, sendVerb, shownAt } from './instance/instance.ts'

const list = defineCommand({
  meta: { name: 'list', description: 'Show every job: its last run, how it went, and the next' },
  args: configArg,
  async run({ args }) {
    const { jobs } = await sendVerb<{ jobs: JobState[] }>(args.config, 'jobs.list', {})
    const rows = jobs.map((job) => [job.job, job.schedule, shownAt(job.started_at), ...endOf(job)])
    print(columns([['job', 'schedule', 'last run', 'took', 'next', 'outcome'], ...rows]))
  },
})

const endOf = (job: JobState) => [durationOf(job), shownAt(job.next_at), outcomeOf(job)]

function durationOf({ duration_ms }: JobState): string | null {
  if (duration_ms === null) return null
  return duration_ms < 1000 ? `${duration_ms} ms` : `${(duration_ms / 1000).toFixed(1)} s`
}

function outcomeOf({ running, failures, error, outcome }: JobState): string | null {
  if (running) return 'under way'
  if (failures === 0) return outcome
  return `failed${failures > 1 ? ` ${failures} times in a row` : ''}: ${error}`
}

const run = defineCommand({
  meta: { name: 'run', description: 'Do one now, and wait for it' },
  args: {
    name: { type: 'positional', required: true, description: 'Which, as `jobs list` shows it' },
    ...configArg,
  },
  async run({ args }) {
    const job = await sendVerb<JobState>(args.config, 'jobs.run', { name: args.name })
    if (job.error !== null) throw new Refusal(502, 'job_failed', `${args.name} failed: ${job.error}`)
    print(`${args.name}: ${job.outcome}`)
  },
})

export const jobsCommand = defineCommand({
  meta: { name: 'jobs', description: 'Show what happens by the clock; do one at once' },
  subCommands: { list, run },
  default: 'list',
})
