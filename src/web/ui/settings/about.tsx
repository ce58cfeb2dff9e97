/** Settings, About: version, address and database. */
import type { JSX } from 'preact'
import { Card } from '../parts/card.tsx'
import { QueryView } from '../parts/query_view.tsx'
import { RelativeTime } from '../parts/relative_time.tsx'
import { useQuery } from '../queries.ts'
import { bytes, instant } from '../words.ts'
import { useSettings } from './settings_queries.ts'

export function About(): JSX.Element {
  const ready = useQuery<{ status: string }>('/readyz', {}, { interval_ms: 60_000 })
  return (
    <Card title="About this server">
      <QueryView result={useSettings()} height={190}>
        {(settings) => (
          <dl class="facts">
            <dt>Version</dt>
            <dd>{settings.version}</dd>
            <dt>Address</dt>
            <dd>{settings.base_url}</dd>
            <dt>Started</dt>
            <dd>
              <RelativeTime at={settings.started_at} />{' '}
              <span class="quiet">({instant(settings.started_at)})</span>
            </dd>
            <dt>Database</dt>
            <dd>
              <code>{settings.database.name}</code>, {bytes(settings.database.bytes)}{' '}
              <span class="quiet">and {bytes(settings.database.wal_bytes)} in its write-ahead log</span>
            </dd>
            <dt>Configuration</dt>
            <dd>
              {settings.config_file ? (
                <code>{settings.config_file}</code>
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
