/** Settings, Annotations: all notes on the charts, and what Apple tells. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { appName, useApps } from '../apps.ts'
import { ExportMenu } from '../charts/export_menu.tsx'
import { write } from '../http.ts'
import { useOverview } from '../overview.ts'
import { usePagedQuery } from '../paged_queries.ts'
import { Card } from '../parts/card.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { ShowMore } from '../parts/show_more.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { invalidate } from '../queries.ts'
import { useScope } from '../scope.ts'
import { day, sentence } from '../words.ts'
import { AnnotationDialog } from './annotation_dialog.tsx'
import { ANNOTATIONS, type Annotation, type Annotations } from './annotation_query.ts'

const SOURCE_TITLES: Record<Annotation['source'], string> = {
  owner: 'You',
  token: 'API',
  version: 'Apple, versions',
  price: 'Apple, prices',
}

/** Why Apple's versions or prices are missing. */
function AppleState({ apple }: { apple: Annotations['apple'] }): JSX.Element | null {
  const refusals = [...new Set(apple.flatMap(({ refused }) => refused ?? []))]
  if (refusals.length === 0 && apple.length > 0) return null
  return (
    <div class="small quiet">
      {apple.length === 0 ? (
        <p>
          With an App Store Connect key, Windfall reads app versions and subscription prices from Apple once a
          day and adds them here.
        </p>
      ) : (
        refusals.map((refused) => (
          <p key={refused} class="warn">
            {sentence(refused)}
          </p>
        ))
      )}
    </div>
  )
}

type RowProps = { one: Annotation; onEdit: () => void; onDelete: () => void }

function Row({ one, onEdit, onDelete }: RowProps): JSX.Element {
  const apps = useApps().data?.apps
  return (
    <tr>
      <th scope="row" class="nowrap">
        {day(one.annotated_on)}
      </th>
      <td class="wordy">{one.text}</td>
      <td>{one.app_id === null ? 'All apps' : appName(apps, one.app_id)}</td>
      <td class="quiet">{SOURCE_TITLES[one.source]}</td>
      <td class="number nowrap">
        <button type="button" class="button plain" onClick={onEdit}>
          Edit<span class="spoken"> {one.text}</span>
        </button>
        <button type="button" class="button plain danger" onClick={onDelete}>
          Delete<span class="spoken"> {one.text}</span>
        </button>
      </td>
    </tr>
  )
}

const HEADINGS = [
  { title: 'Day' },
  { title: 'Text' },
  { title: 'App' },
  { title: 'Source' },
  { title: <span class="spoken">Change</span> },
]

/** The dialog that is open: adding, editing or deleting. */
type Open = { kind: 'add' } | { kind: 'edit' | 'delete'; one: Annotation }

function OpenDialog({ open, onClose }: { open: Open; onClose: () => void }): JSX.Element {
  const today = useOverview(useScope().scope).overview?.today_on ?? ''
  if (open.kind === 'add') return <AnnotationDialog day={today} onClose={onClose} />
  const { one } = open
  if (open.kind === 'edit') return <AnnotationDialog annotation={one} day={today} onClose={onClose} />
  return (
    <Confirm
      title="Delete annotation"
      verb="Delete"
      onClose={onClose}
      action={async () => {
        await write('DELETE', `${ANNOTATIONS}/${one.id}`)
        await invalidate(ANNOTATIONS)
      }}
    >
      <p>
        “{one.text}” of {day(one.annotated_on)}
      </p>
    </Confirm>
  )
}

export function AnnotationsSection(): JSX.Element {
  const paged = usePagedQuery<Annotations>(ANNOTATIONS, { limit: 50 }, 'before')
  const [open, setOpen] = useState<Open | null>(null)
  return (
    <Card
      title="Notes on the days of the charts"
      tools={
        <>
          <ExportMenu csvUrls={{ csv: `${ANNOTATIONS}.csv` }} />
          <button type="button" class="button" onClick={() => setOpen({ kind: 'add' })}>
            <Icon name="plus" /> Add annotation
          </button>
        </>
      }
    >
      <p class="small quiet">Guests do not see them.</p>
      <QueryView result={paged.first} height={240}>
        {({ apple }) => (
          <>
            <AppleState apple={apple} />
            {paged.pages[0]?.annotations.length === 0 && (
              <Empty icon="flag" title="No annotations yet">
                <p>Add one here, from the menu of a chart, or by API.</p>
              </Empty>
            )}
            {paged.pages[0]?.annotations.length !== 0 && (
              <Scroll label="Annotations">
                <table class="table level">
                  <TableHead headings={HEADINGS} />
                  <tbody>
                    {paged.pages.flatMap(({ annotations }) =>
                      annotations.map((one) => (
                        <Row
                          key={one.id}
                          one={one}
                          onEdit={() => setOpen({ kind: 'edit', one })}
                          onDelete={() => setOpen({ kind: 'delete', one })}
                        />
                      )),
                    )}
                  </tbody>
                </table>
              </Scroll>
            )}
            <ShowMore {...paged} />
          </>
        )}
      </QueryView>
      {open && <OpenDialog open={open} onClose={() => setOpen(null)} />}
    </Card>
  )
}
