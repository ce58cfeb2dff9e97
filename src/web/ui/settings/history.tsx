/** The progress of the backfill. */
import type { JSX } from 'preact'
import { Card } from '../parts/card.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { RelativeTime } from '../parts/relative_time.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { sentence, share } from '../words.ts'
import { type AppHealth, useHealth } from './settings_queries.ts'

type HistoryState = AppHealth['history'][number]

const STAGES = {
  notifications: 'Notifications',
  transactions: 'Transactions',
  statuses: 'Subscriptions',
  done: 'Complete',
}

function State({ one }: { one: HistoryState }): JSX.Element {
  if (!one.has_key) return <span class="quiet">Requires an In-App Purchase key</span>
  if (one.stage === null) return <span class="badge">Not started</span>
  if (one.stage === 'done') return <span class="badge good">{STAGES.done}</span>
  return (
    <span class="stack-s">
      <span>
        {STAGES[one.stage]}
        {one.progress !== null && `, ${share(one.progress, 0)}`}
      </span>
      {one.progress !== null && <progress value={one.progress} max={1} aria-label="History read" />}
    </span>
  )
}

export function HistoryProgress(): JSX.Element {
  return (
    <Card
      title="Apple’s history"
      foot="Apple provides the notifications of the last 180 days and the transactions of every customer."
    >
      <QueryView result={useHealth()} height={200}>
        {({ apps }) =>
          apps.length === 0 ? (
            <Empty icon="app" title="No app is connected yet" />
          ) : (
            <Scroll label="History">
              <table class="table row-cards">
                <TableHead
                  headings={[
                    { title: 'App' },
                    { title: 'Environment' },
                    { title: 'History' },
                    { title: 'Complete until' },
                  ]}
                />
                <tbody>
                  {apps.flatMap((app) =>
                    app.history.map((one) => (
                      <tr key={`${app.app_id} ${one.environment}`}>
                        <th scope="row">{app.name ?? app.bundle_id}</th>
                        <td data-title="Environment">{sentence(one.environment)}</td>
                        <td class="wordy" data-title="History">
                          <State one={one} />
                          {one.problem && <p class="tiny bad">{sentence(one.problem)}</p>}
                        </td>
                        <td class="nowrap" data-title="Complete until">
                          <RelativeTime at={one.compared_until_at} />
                        </td>
                      </tr>
                    )),
                  )}
                </tbody>
              </table>
            </Scroll>
          )
        }
      </QueryView>
    </Card>
  )
}
