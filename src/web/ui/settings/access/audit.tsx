/** The audit log. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { AuditAnswer } from '../../../../api/owner/owner.ts'
import { Card } from '../../parts/card.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { TableHead } from '../../parts/table_head.tsx'
import { useQuery } from '../../queries.ts'
import { sentence } from '../../words.ts'
import { auditLabel } from './audit_labels.ts'

type Entry = InferOutput<typeof AuditAnswer>['entries'][number]

const isFailure = ({ action }: Entry): boolean => /failed|refused/.test(action)

const Row = ({ entry }: { entry: Entry }): JSX.Element => (
  <tr>
    <td class="nowrap" data-title="Time">
      <RelativeTime at={entry.at} />
    </td>
    <td data-title="Actor">{sentence(entry.actor)}</td>
    <td class={isFailure(entry) ? 'warn' : ''} data-title="Action">
      {auditLabel(entry.action)}
    </td>
    <td class="wordy quiet" data-title="Target">
      {[entry.subject, entry.detail].filter(Boolean).join(', ')}
    </td>
    <td class="nowrap quiet" data-title="Address">
      {entry.address}
    </td>
  </tr>
)

/** One page of the audit log. */
export function Audit(): JSX.Element {
  const [pages, setPages] = useState<(number | null)[]>([null])
  const before = pages.at(-1) ?? null
  const result = useQuery<InferOutput<typeof AuditAnswer>>('/api/v1/audit', { before, limit: 25 })
  return (
    <Card title="Audit log">
      <QueryView result={result} height={420}>
        {({ entries, next }) => (
          <>
            {entries.length === 0 && <Empty title="No entries yet" />}
            <Scroll label="Audit log">
              <table class="table row-cards">
                <TableHead
                  headings={[
                    { title: 'Time' },
                    { title: 'Actor' },
                    { title: 'Action' },
                    { title: 'Target' },
                    { title: 'Address' },
                  ]}
                />
                <tbody>
                  {entries.map((entry) => (
                    <Row key={entry.id} entry={entry} />
                  ))}
                </tbody>
              </table>
            </Scroll>
            <div class="row">
              {pages.length > 1 && (
                <button type="button" class="button" onClick={() => setPages(pages.slice(0, -1))}>
                  Newer
                </button>
              )}
              {next !== null && (
                <button type="button" class="button" onClick={() => setPages([...pages, next])}>
                  Older
                </button>
              )}
            </div>
          </>
        )}
      </QueryView>
    </Card>
  )
}
