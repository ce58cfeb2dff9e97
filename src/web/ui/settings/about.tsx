/** Which Windfall this is. */
import type { JSX } from 'preact'
import { useAnswer } from '../answers.ts'
import { Card } from '../parts/card.tsx'
import { Loaded } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import { bytes, instant } from '../words.ts'
import { useKnown } from './known.ts'

export function About(): JSX.Element {
  const ready = useAnswer<{ status: string }>('/readyz', {}, { every: 60_000 })
  return (
    <Card title="This Windfall">
      <Loaded asked={useKnown()} height={190}>
        {(known) => (
          <dl class="facts">
            <dt>Version</dt>
            <dd>{known.version}</dd>
            <dt>Address</dt>
            <dd>{known.base_url}</dd>
            <dt>Started</dt>
            <dd>
              <When at={known.started_at} /> <span class="quiet">({instant(known.started_at)})</span>
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
                'No file: all settings are at their defaults'
              )}
            </dd>
            <dt>Ready</dt>
            <dd>
              {ready.problem ? <span class="bad">{ready.problem.message}</span> : ready.data ? 'Yes' : ''}
            </dd>
            <dt>API</dt>
            <dd>
              <a href="/api/openapi.json" target="_blank" rel="noreferrer">
                OpenAPI description
              </a>
            </dd>
          </dl>
        )}
      </Loaded>
    </Card>
  )
}
