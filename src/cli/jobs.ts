/** The command `windfall jobs`: lists scheduled jobs, and runs one now. */
import { defineCommand } from 'citty'
import { Refusal } from '../errors.ts'
import type { JobState } from '../jobs/jobs.ts'
import { withCommands } from '../program/form.ts'
import { columns, configArg, instantText, sendVerb } from './instance/instance.ts'
import { print } from './instance/output.ts'

const list = defineCommand({
  meta: { name: 'list', description: 'List jobs with their last run, its outcome and the next run' },
  args: configArg,
  async run({ args }) {
    const { jobs } = await sendVerb<{ jobs: JobState[] }>(args.config, 'jobs.list', {})
    const rows = jobs.map((job) => [job.job, job.schedule, instantText(job.started_at), ...lastCells(job)])
    print(columns([['job', 'schedule', 'last run', 'took', 'next', 'outcome'], ...rows]))
  },
})

const lastCells = (job: JobState) => [durationOf(job), instantText(job.next_at), outcomeOf(job)]

function durationOf({ duration_ms }: JobState): string | null {
  if (duration_ms === null) return null
  return duration_ms < 1000 ? `${duration_ms} ms` : `${(duration_ms / 1000).toFixed(1)} s`
}

function outcomeOf({ running, failures, error, outcome }: JobState): string | null {
  if (running) return 'running'
  if (failures === 0) return outcome && withCommands(outcome)
  return withCommands(`failed${failures > 1 ? ` ${failures} times in a row` : ''}: ${error}`)
}

const run = defineCommand({
  meta: { name: 'run', description: 'Run a job now and wait for it' },
  args: {
    name: { type: 'positional', required: true, description: 'Name of the job, from `jobs list`' },
    ...configArg,
  },
  async run({ args }) {
    const job = await sendVerb<JobState>(args.config, 'jobs.run', { name: args.name })
    if (job.error !== null) throw new Refusal(502, 'job_failed', `${args.name} failed: ${job.error}`)
    print(withCommands(`${args.name}: ${job.outcome}`))
  },
})

export const jobsCommand = defineCommand({
  meta: { name: 'jobs', description: 'List scheduled jobs; run one now' },
  subCommands: { list, run },
  default: 'list',
})
