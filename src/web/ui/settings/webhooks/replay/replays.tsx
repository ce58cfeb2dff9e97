/** The replays of an endpoint with their progress. */
import type { JSX } from 'preact'
import { write } from '../../../http.ts'
import { Card } from '../../../parts/card.tsx'
import { useMutation } from '../../../parts/dialog.tsx'
import { ErrorMessage } from '../../../parts/error_message.tsx'
import { QueryView } from '../../../parts/query_view.tsx'
import { RelativeTime } from '../../../parts/relative_time.tsx'
import { count, plural, share } from '../../../words.ts'
import { type Replay, refreshWebhooks, useReplays } from '../webhook_queries.ts'

const STATES: Record<Replay['state'], { title: string; tone: string }> = {
  running: { title: 'Running', tone: 'accent' },
  done: { title: 'Done', tone: 'good' },
  stopped: { title: 'Stopped', tone: '' },
}
/** All deliveries are made, and some are not sent yet. */
const WAITING = { title: 'Waiting', tone: 'accent' }

function Row({ replay }: { replay: Replay }): JSX.Element {
  const { run, isBusy, problem } = useMutation(async () => {
    await write('POST', `/api/v1/replays/${encodeURIComponent(replay.id)}/stop`)
    await refreshWebhooks()
  })
  const isRunning = replay.state === 'running'
  const isWaiting = replay.state === 'done' && replay.waiting > 0
  const { title, tone } = isWaiting ? WAITING : STATES[replay.state]
  return (
    <li class="stack-s">
      <div class="spread small">
        <span class="row">
          <span class={`badge ${tone}`}>{title}</span>
          <span>
            {plural(replay.made, 'delivery', 'deliveries')}: {count(replay.delivered)} delivered,{' '}
            {count(replay.waiting)} waiting, {count(replay.failed)} failed
          </span>
          <span class="quiet">
            <RelativeTime at={replay.created_at} />
          </span>
        </span>
        {(isRunning || isWaiting) && (
          <button type="button" class="button" disabled={isBusy} onClick={run}>
            Stop
          </button>
        )}
      </div>
      {isRunning && (
        <progress value={replay.progress} max={1} aria-label={`Replay: ${share(replay.progress, 0)}`} />
      )}
      <ErrorMessage message={problem} />
    </li>
  )
}

/** Nothing if the endpoint has no replays. */
export function Replays({ endpoint_id }: { endpoint_id: string }): JSX.Element | null {
  const result = useReplays(endpoint_id)
  if (result.data?.replays.length === 0) return null
  return (
    <Card title="Replays">
      <QueryView result={result} height={80}>
        {({ replays }) => (
          <ul class="rows">
            {replays.map((replay) => (
              <Row key={replay.id} replay={replay} />
            ))}
          </ul>
        )}
      </QueryView>
    </Card>
  )
}
