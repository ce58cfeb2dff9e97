/** Settings, System: the verdict on this server, the last result of the checks with its age, and running them. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { SystemAnswer } from '../../../api/owner/system.ts'
import { write } from '../http.ts'
import { Card } from '../parts/card.tsx'
import { CodeProse } from '../parts/code_prose.tsx'
import { useMutation } from '../parts/dialog.tsx'
import { ErrorMessage } from '../parts/error_message.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { RelativeTime } from '../parts/relative_time.tsx'
import { invalidate, useQuery } from '../queries.ts'
import { withCommands } from '../today/commands.ts'
import { useStatus, type Verdict } from '../today/status.ts'
import { VerdictPill } from '../today/verdict_pill.tsx'
import { count, duration, plural } from '../words.ts'
import { type Check, countChecks, sortChecks } from './system_checks.ts'

type System = InferOutput<typeof SystemAnswer>
type Result = NonNullable<System['result']>
type Running = NonNullable<System['running']>

const PATH = '/api/v1/system'
const RUNNING_INTERVAL_MS = 1_000
const IDLE_INTERVAL_MS = 60_000

const BADGES: Record<Check['status'], { title: string; tone: string }> = {
  error: { title: 'Error', tone: 'bad' },
  warning: { title: 'Warning', tone: 'warn' },
  ok: { title: 'Passed', tone: 'good' },
  skipped: { title: 'Skipped', tone: '' },
}

type RowProps = { check: Pick<Check, 'title' | 'status' | 'detail' | 'remedy'> }

function Row({ check }: RowProps): JSX.Element {
  const { title, tone } = BADGES[check.status]
  return (
    <li class="check">
      <span class={`badge ${tone}`}>{title}</span>
      <div class="check-text small">
        <strong class="ink">{check.title}</strong>
        <p>
          <CodeProse text={check.detail} />
        </p>
        {check.remedy && (
          <p class="check-remedy">
            <Icon name="right" />
            <span>
              <span class="spoken">What to do: </span>
              <CodeProse text={check.remedy} />
            </span>
          </p>
        )}
      </div>
    </li>
  )
}

const Progress = ({ running }: { running: Running }): JSX.Element => (
  <div class="stack-s" role="status">
    <progress value={running.done} max={running.of || 1} aria-label="Checks done" />
    <p class="small">
      {running.of === 0 ? 'Starting' : `${running.title}, ${count(running.done + 1)} of ${count(running.of)}`}
      {running.test_notifications && (
        <span class="quiet"> · A test notification can take a minute for each app.</span>
      )}
    </p>
  </div>
)

function Summary({ result }: { result: Result }): JSX.Element {
  const counts = countChecks(result.checks)
  return (
    <p class="small check-summary">
      <span class={counts.error > 0 ? 'bad' : ''}>{plural(counts.error, 'error')}</span>
      {', '}
      <span class={counts.warning > 0 ? 'warn' : ''}>{plural(counts.warning, 'warning')}</span>,{' '}
      {count(counts.ok)} passed, {count(counts.skipped)} skipped.{' '}
      <span class="quiet">
        Checked <RelativeTime at={result.finished_at} /> by version {result.version}, in{' '}
        {duration(result.finished_at - result.started_at)}.
      </span>
    </p>
  )
}

/** What is found now, in contrast to the results of the checks. */
function Found({ verdict }: { verdict: Verdict }): JSX.Element | null {
  const found = verdict.reasons.filter(({ check }) => check === null)
  if (found.length === 0) return null
  return (
    <ul class="rows" aria-label="Needs attention now">
      {found.map(({ level, title, detail, remedy }) => (
        <Row
          key={`${title} ${detail}`}
          check={{
            status: level,
            title,
            detail: withCommands(detail),
            remedy: remedy && withCommands(remedy),
          }}
        />
      ))}
    </ul>
  )
}

const NeverRun = (): JSX.Element => (
  <Empty icon="question" title="No results yet">
    <p>
      They run soon after the first start, and then daily if the job <code>checks</code> is on. They examine
      the configuration, the disk, the database, the address, Apple’s keys and the backups, and say what to
      do. They take a few seconds and change nothing.
    </p>
  </Empty>
)

/** The form that runs the checks. The server refuses a second run within a minute. */
function RunChecks({ isRunning }: { isRunning: boolean }): JSX.Element {
  const [withTest, setWithTest] = useState(false)
  const { run, isBusy, problem } = useMutation(async () => {
    await write('POST', `${PATH}/checks`, { test_notifications: withTest })
    await invalidate(PATH)
  })
  return (
    <div class="stack-s">
      <div class="row check-run">
        <label class="row small">
          <input
            type="checkbox"
            checked={withTest}
            onChange={(event) => setWithTest(event.currentTarget.checked)}
          />
          Send test notifications
        </label>
        <button type="button" class="button main" disabled={isRunning || isBusy} onClick={run}>
          <Icon name="refresh" /> {isRunning ? 'Running' : 'Run checks'}
        </button>
      </div>
      <ErrorMessage message={problem} />
    </div>
  )
}

export function System(): JSX.Element {
  const [isRunning, setRunning] = useState(false)
  const result = useQuery<System>(
    PATH,
    {},
    { interval_ms: isRunning ? RUNNING_INTERVAL_MS : IDLE_INTERVAL_MS },
  )
  const isRunningNow = (result.data?.running ?? null) !== null
  const finished_at = result.data?.result?.finished_at
  const verdict = useStatus().data?.verdict
  useEffect(() => setRunning(isRunningNow), [isRunningNow])
  // The verdict rests on the results.
  useEffect(() => void (finished_at && invalidate('/api/v1/status')), [finished_at])
  return (
    <Card
      title="System checks"
      tools={verdict && <VerdictPill verdict={verdict} />}
      foot={
        <span>
          <CodeProse text="The same checks in a terminal: `windfall doctor`. To report a problem, attach the file that `windfall support` writes; it contains no secrets." />
        </span>
      }
    >
      <QueryView result={result} height={420}>
        {({ result: last, running }) => (
          <div class="stack">
            <RunChecks isRunning={running !== null} />
            {running && <Progress running={running} />}
            {verdict && <Found verdict={verdict} />}
            {last && <Summary result={last} />}
            {last && (
              <ul class="rows" aria-label="Results">
                {sortChecks(last.checks).map((check) => (
                  <Row key={check.id} check={check} />
                ))}
              </ul>
            )}
            {!last && !running && <NeverRun />}
          </div>
        )}
      </QueryView>
    </Card>
  )
}
