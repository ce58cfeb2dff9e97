/** Settings, Jobs: scheduled jobs and their last results. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { JobsAnswer } from '../../../api/jobs.ts'
import { Card } from '../parts/card.tsx'
import { CodeProse } from '../parts/code_prose.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { RelativeTime } from '../parts/relative_time.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { useQuery } from '../queries.ts'
import { count, duration, grouped, sentence } from '../words.ts'
import { isWaiting, type Job } from './job_state.ts'

function State({ job }: { job: Job }): JSX.Element {
  if (job.running) return <span class="badge accent">Running</span>
  if (job.failures > 0)
    return (
      <span class="badge bad">{job.failures === 1 ? 'Failed' : `Failed ${count(job.failures)} times`}</span>
    )
  if (job.started_at === null) return <span class="badge">Not run yet</span>
  if (isWaiting(job)) return <span class="badge">Waiting</span>
  return <span class="badge good">Succeeded</span>
}

const Row = ({ job }: { job: Job }): JSX.Element => (
  <tr>
    <th scope="row">
      <strong class="ink">{sentence(job.job)}</strong>
      <div class="tiny quiet">{job.schedule === 'off' ? 'Turned off' : <code>{job.schedule}</code>}</div>
    </th>
    <td data-title="Status">
      <State job={job} />
    </td>
    <td class="wordy" data-title="Result">
      {job.error ? <span class="bad">{sentence(job.error)}</span> : grouped(sentence(job.outcome ?? ''))}
    </td>
    <td class="nowrap" data-title="Last run">
      <RelativeTime at={job.started_at} never="Never" />
      {job.duration_ms !== null && <div class="tiny quiet">took {duration(job.duration_ms)}</div>}
    </td>
    <td class="nowrap" data-title="Next run">
      <RelativeTime at={job.next_at} />
    </td>
  </tr>
)

export function Jobs(): JSX.Element {
  const result = useQuery<InferOutput<typeof JobsAnswer>>('/api/v1/jobs', {}, { interval_ms: 10_000 })
  return (
    <Card
      title="Scheduled jobs"
      foot={
        <span>
          <CodeProse text="Schedules are cron expressions in UTC. To run a job now, use `windfall jobs run NAME`." />
        </span>
      }
    >
      <QueryView result={result} height={420}>
        {({ jobs }) => (
          <Scroll label="Jobs">
            <table class="table row-cards">
              <TableHead
                headings={[
                  { title: 'Job' },
                  { title: 'Status' },
                  { title: 'Result' },
                  { title: 'Last run' },
                  { title: 'Next run' },
                ]}
              />
              <tbody>
                {jobs.map((job) => (
                  <Row key={job.job} job={job} />
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </QueryView>
    </Card>
  )
}
