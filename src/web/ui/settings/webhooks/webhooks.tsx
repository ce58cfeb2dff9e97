/** Settings, Webhooks: the list of endpoints. */
import '../../loading/event_views.ts'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { useApps } from '../../apps.ts'
import { Card } from '../../parts/card.tsx'
import { Icon } from '../../parts/icons.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { Scroll } from '../../parts/scroll.tsx'
import { TableHead } from '../../parts/table_head.tsx'
import { useScope } from '../../scope.ts'
import { share, UNKNOWN } from '../../words.ts'
import { ShownOnce } from '../access/shown_once.tsx'
import { organizationName, useSettings } from '../settings_queries.ts'
import { StateBadge, Waiting } from './endpoint_parts.tsx'
import { isDeclared, successRate } from './endpoint_state.ts'
import { AddEndpoint } from './form/endpoint_dialogs.tsx'
import { SECRET_NOTE } from './secret.tsx'
import { type CreatedEndpoint, type Endpoint, useEndpoints } from './webhook_queries.ts'

/** The address of an endpoint's page. */
const pageOf = (id: string): string => `/settings/webhooks/${id}`

function Row({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const { href } = useScope()
  const settings = useSettings().data
  const rate = successRate(endpoint)
  return (
    <tr>
      <th scope="row">
        <a class="strong" href={href(pageOf(endpoint.id))}>
          {endpoint.name}
        </a>
        <div class="tiny quiet webhook-url">{endpoint.url}</div>
        {endpoint.kind === 'apple' && <div class="tiny quiet">Apple’s notifications</div>}
        {isDeclared(endpoint) && <div class="tiny quiet">declared in config.toml</div>}
        {(settings?.organizations.length ?? 0) > 1 && (
          <div class="tiny quiet">{organizationName(settings, endpoint.organization_id)}</div>
        )}
      </th>
      <td data-title="State">
        <StateBadge endpoint={endpoint} />
      </td>
      <td class="number" data-title="Succeeded, 7 days">
        {rate === null ? UNKNOWN : share(rate)}
      </td>
      <td class="nowrap" data-title="Last success">
        <RelativeTime at={endpoint.health.last_success_at} never="Never" />
      </td>
      <td data-title="Waiting">
        <Waiting endpoint={endpoint} />
      </td>
    </tr>
  )
}

const Table = ({ endpoints }: { endpoints: Endpoint[] }): JSX.Element => (
  <Scroll label="Endpoints">
    <table class="table webhook-table row-cards">
      <TableHead
        headings={[
          { title: 'Endpoint' },
          { title: 'State' },
          { title: 'Succeeded, 7 days', isNumber: true },
          { title: 'Last success' },
          { title: 'Waiting' },
        ]}
      />
      <tbody>
        {endpoints.map((endpoint) => (
          <Row key={endpoint.id} endpoint={endpoint} />
        ))}
      </tbody>
    </table>
  </Scroll>
)

const NoEndpoints = ({ onAdd }: { onAdd: () => void }): JSX.Element => (
  <Empty icon="send" title="No endpoints yet">
    <p>
      A webhook is a request that Windfall sends to a URL of your backend when something happens, such as a
      renewal or a refund. It is signed, sent again until your backend responds, and sent in order if you
      want.
    </p>
    <p>Enter a URL of your backend to receive the first one:</p>
    <button type="button" class="button main" onClick={onAdd}>
      <Icon name="plus" /> Add endpoint
    </button>
  </Empty>
)

export function Webhooks(): JSX.Element {
  const result = useEndpoints()
  const { href } = useScope()
  const { route } = useLocation()
  // The form preselects an organization and lists apps.
  useSettings()
  useApps()
  const [isAdding, setAdding] = useState(false)
  const [created, setCreated] = useState<CreatedEndpoint | null>(null)
  const hasEndpoints = (result.data?.endpoints.length ?? 0) > 0
  return (
    <Card
      title="Endpoints"
      tools={
        hasEndpoints && (
          <button type="button" class="button" onClick={() => setAdding(true)}>
            <Icon name="plus" /> Add endpoint
          </button>
        )
      }
    >
      <QueryView result={result} height={200}>
        {({ endpoints }) =>
          endpoints.length === 0 ? (
            <NoEndpoints onAdd={() => setAdding(true)} />
          ) : (
            <Table endpoints={endpoints} />
          )
        }
      </QueryView>
      {isAdding && (
        <AddEndpoint
          onCreated={(one) => {
            setAdding(false)
            setCreated(one)
          }}
          onClose={() => setAdding(false)}
        />
      )}
      {created && (
        <ShownOnce
          title="Signing secret"
          text={created.secret}
          label="the signing secret"
          note={SECRET_NOTE}
          onClose={() => route(href(pageOf(created.endpoint.id)))}
        />
      )}
    </Card>
  )
}
