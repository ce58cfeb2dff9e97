/** Settings, About: version, address and database. */
import type { JSX } from 'preact'
import { Card } from '../parts/card.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { RelativeTime } from '../parts/relative_time.tsx'
import { useQuery } from '../queries.ts'
import { bytes, instant } from '../words.ts'
import { useStatus } from './status_queries.ts'

export function About(): JSX.Element {
  const ready = useQuery<{ status: string }>('/readyz', {}, { every: 60_000 })
  return (
    <Card title="About this server">
      <QueryView result={useStatus()} height={190}>
        {(known) => (
          <dl class="facts">
            <dt>Version</dt>
            <dd>{known.version}</dd>
            <dt>Address</dt>
            <dd>{known.base_url}</dd>
            <dt>Started</dt>
            <dd>
              <RelativeTime at={known.started_at} /> <span class="quiet">({instant(known.started_at)})</span>
            </dd>
            <dt>Database</dt>
            <dd>
              <code>{known.database.name}</code>, {bytes(known.database.bytes)}{' '}
              <span class="quiet">and {bytes(known.database.wal_bytes)} in its write-ahead log</span>
            </dd>
            <dt>Configuration</dt>
            <dd>
              {known.config_file ? (
                <code>{known.config_file}</code>
              ) : (
                'No file. Settings come from environment variables or their defaults'
              )}
            </dd>
            <dt>Ready</dt>
            <dd>
              {ready.problem ? <span class="bad">{ready.problem.message}</span> : ready.data ? 'Yes' : ''}
            </dd>
            <dt>API</dt>
            <dd>
              <a href="/api/openapi.json" target="_blank" rel="noreferrer">
                OpenAPI specification
              </a>
            </dd>
          </dl>
        )}
      </QueryView>
    </Card>
  )
}
