/** The steps of the first set-up, until all are done or the owner hides them. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { JobsAnswer } from '../../../api/jobs.ts'
import type { FirstStepsAnswer } from '../../../api/owner/first_steps.ts'
import { write } from '../http.ts'
import { Card } from '../parts/card.tsx'
import { CodeProse } from '../parts/code_prose.tsx'
import { commandLine } from '../parts/copy.tsx'
import { useMutation } from '../parts/dialog.tsx'
import { ErrorMessage } from '../parts/error_message.tsx'
import { Icon } from '../parts/icons.tsx'
import { invalidate, type QueryResult, useQuery } from '../queries.ts'
import { useScope } from '../scope.ts'
import { count, sentence } from '../words.ts'

type FirstSteps = InferOutput<typeof FirstStepsAnswer>
type Step = FirstSteps['steps'][number]
type Name = Step['name']

const PATH = '/api/v1/first-steps'
const INTERVAL_MS = 15_000
const RUNNING_INTERVAL_MS = 1_000

const useFirstSteps = (): QueryResult<FirstSteps> =>
  useQuery<FirstSteps>(PATH, {}, { interval_ms: INTERVAL_MS })

/** Whether Today shows the steps: some are left and they are not dismissed. */
export function useHasFirstSteps(): boolean {
  const { data } = useFirstSteps()
  return data !== undefined && !data.dismissed && data.steps.some(({ done }) => !done)
}

/** Whether Today asks for the time zone. */
export const useAsksZone = (): boolean => useFirstSteps().data?.has_time_zone === false

type Words = { title: string; text: string; href: string; label: string }

const WORDS: Record<Exclude<Name, 'backup'>, Words> = {
  app: {
    title: 'Connect an app',
    text: `With Apple’s keys, in the browser or in a terminal; or without keys, by its bundle ID: \`${commandLine('windfall apps add com.example.app')}\`.`,
    href: '/settings/apple',
    label: 'Connect an app',
  },
  keys: {
    title: 'Enter Apple’s keys',
    text: `Drop both keys from App Store Connect in the browser, or run \`${commandLine('windfall connect')}\` in a terminal.`,
    href: '/settings/apple',
    label: 'Enter the keys',
  },
  url: {
    title: 'Enter the notification URL in App Store Connect',
    text: 'A test notification shows that Apple reaches this server.',
    href: '/settings/apple',
    label: 'Show the URL',
  },
  notification: {
    title: 'Receive the first notification',
    text: 'It arrives with the next purchase or renewal. One from TestFlight counts.',
    href: '/events',
    label: 'Show events',
  },
  phone: {
    title: 'Get alerts on your phone',
    text: 'Sales, milestones and trouble, without an app in between.',
    href: '/settings/alerts',
    label: 'Set up alerts',
  },
  backend: {
    title: 'Connect your backend',
    text: 'With a webhook, or with calls that carry a secret key.',
    href: '/settings/webhooks',
    label: 'Add a webhook',
  },
}

function LinkedStep({ name }: { name: keyof typeof WORDS }): JSX.Element {
  const { href } = useScope()
  const { title, text, href: path, label } = WORDS[name]
  return (
    <>
      <div class="stack-s small">
        <h3>{title}</h3>
        <span class="quiet">
          <CodeProse text={text} />
        </span>
      </div>
      <a class="button step-action" href={href(path)}>
        {label}
      </a>
    </>
  )
}

/** The job that makes backups. It is polled each second while it runs. */
function useBackupJob(isStarted: boolean) {
  const jobs = useQuery<InferOutput<typeof JobsAnswer>>(
    '/api/v1/jobs',
    {},
    { wait: !isStarted, interval_ms: RUNNING_INTERVAL_MS },
  )
  return jobs.data?.jobs.find(({ job }) => job === 'backup')
}

function BackupStep(): JSX.Element {
  const [isStarted, setStarted] = useState(false)
  const job = useBackupJob(isStarted)
  const isRunning = isStarted && (job?.running ?? true)
  const { run, isBusy, problem } = useMutation(async () => {
    await write('POST', '/api/v1/backups')
    await invalidate('/api/v1/jobs')
    setStarted(true)
  })
  useEffect(() => {
    if (isStarted && !isRunning) void invalidate(PATH).then(() => setStarted(false))
  }, [isStarted, isRunning])
  return (
    <>
      <div class="stack-s small">
        <h3>Make a backup</h3>
        <span class="quiet">
          A verified copy of the database and its keys, in the folder of <code>[backup]</code>.
        </span>
        {job?.error && <span class="bad">{sentence(job.error)}</span>}
        <ErrorMessage message={problem} />
      </div>
      <button type="button" class="button step-action" disabled={isBusy || isRunning} onClick={run}>
        {isRunning ? 'Backing up' : 'Back up now'}
      </button>
    </>
  )
}

const DoneStep = ({ name }: { name: Name }): JSX.Element => (
  <h3>
    {name === 'backup' ? 'Make a backup' : WORDS[name].title}
    <span class="spoken">, done</span>
  </h3>
)

function StepRow({ step }: { step: Step }): JSX.Element {
  const { name, done } = step
  return (
    <li class={done ? 'is-done' : undefined}>
      <Icon name={done ? 'check' : 'right'} />
      {done ? <DoneStep name={name} /> : name === 'backup' ? <BackupStep /> : <LinkedStep name={name} />}
    </li>
  )
}

export function FirstSteps(): JSX.Element | null {
  const { data } = useFirstSteps()
  const { run, isBusy, problem } = useMutation(async () => {
    await write('DELETE', PATH)
    await invalidate(PATH)
  })
  if (!useHasFirstSteps() || !data) return null
  const done = data.steps.filter((step) => step.done).length
  return (
    <Card
      title="First steps"
      tools={
        <>
          <span class="small quiet">
            {count(done)} of {count(data.steps.length)} done
          </span>
          <button type="button" class="button plain" disabled={isBusy} onClick={run}>
            Hide<span class="spoken"> the first steps</span>
          </button>
        </>
      }
    >
      <progress value={done} max={data.steps.length} aria-label="First steps done" />
      <ErrorMessage message={problem} />
      <ul class="rows first-steps">
        {data.steps.map((step) => (
          <StepRow key={step.name} step={step} />
        ))}
      </ul>
    </Card>
  )
}
