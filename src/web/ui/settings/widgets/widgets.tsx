/** Settings, Widgets: widgets and badges with their live figures. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useApps } from '../../apps.ts'
import { write } from '../../http.ts'
import { Card } from '../../parts/card.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { organizationName, useSettings } from '../settings_queries.ts'
import { AddWidget } from './widget_dialog.tsx'
import { BadgeMarkdown, WidgetGuide } from './widget_guide.tsx'
import { WidgetPreview } from './widget_preview.tsx'
import { type CreatedWidget, forgetWidget, useWidgets, type Widget, widgetPath } from './widget_queries.ts'

const Remove = ({ widget, onClose }: { widget: Widget; onClose: () => void }): JSX.Element => (
  <Confirm
    title={`Remove “${widget.label}”`}
    verb="Remove"
    onClose={onClose}
    action={async () => {
      await write('DELETE', widgetPath(widget.id))
      forgetWidget(widget.id)
    }}
  >
    <p>Its token is refused from now on. Widgets that use it show their last figures.</p>
  </Confirm>
)

function WidgetCard({ widget }: { widget: Widget }): JSX.Element {
  const settings = useSettings().data
  const [isRemoving, setRemoving] = useState(false)
  return (
    <Card
      title={widget.label}
      tools={
        <button
          type="button"
          class="button plain icon"
          aria-label={`Remove ${widget.label}`}
          onClick={() => setRemoving(true)}
        >
          <Icon name="trash" />
        </button>
      }
    >
      <div class="stack">
        <p class="tiny quiet">
          {widget.kind === 'badge' ? 'Badge, public' : 'Widget'} · {widget.used_at !== null && 'last used '}
          <RelativeTime at={widget.used_at} never="never used" />
          {(settings?.organizations.length ?? 0) > 1 &&
            ` · ${organizationName(settings, widget.organization_id)}`}
        </p>
        {widget.kind === 'badge' ? <BadgeMarkdown widget={widget} /> : <WidgetPreview widget={widget} />}
      </div>
      {isRemoving && <Remove widget={widget} onClose={() => setRemoving(false)} />}
    </Card>
  )
}

export function WidgetsSection(): JSX.Element {
  const result = useWidgets()
  // The form preselects an organization and lists apps.
  useSettings()
  useApps()
  const [isAdding, setAdding] = useState(false)
  const [created, setCreated] = useState<CreatedWidget | null>(null)
  const add = (
    <button type="button" class="button" onClick={() => setAdding(true)}>
      <Icon name="plus" /> Add widget
    </button>
  )
  return (
    <>
      <QueryView result={result} height={240}>
        {({ widgets }) =>
          widgets.length === 0 ? (
            <section class="card card-pad">
              <Empty icon="chart" title="No widgets yet">
                <p>
                  A widget shows a few figures on a phone, a desk display or a README page. Each has a token
                  of its own, which reads these figures and nothing else.
                </p>
                {add}
              </Empty>
            </section>
          ) : (
            <>
              <div class="row widget-tools">{add}</div>
              {widgets.map((widget) => (
                <WidgetCard key={widget.id} widget={widget} />
              ))}
            </>
          )
        }
      </QueryView>
      {isAdding && result.data && (
        <AddWidget
          metrics={result.data.metrics}
          onMade={(made) => {
            setAdding(false)
            setCreated(made)
          }}
          onClose={() => setAdding(false)}
        />
      )}
      {created && <WidgetGuide created={created} onClose={() => setCreated(null)} />}
    </>
  )
}
