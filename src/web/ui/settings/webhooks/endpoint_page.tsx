/** The page of one endpoint: state, deliveries, replays, secret and verification code. */
import '../../loading/event_views.ts'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { useApps } from '../../apps.ts'
import { UnusedNotice } from '../../frame/unused_notice.tsx'
import { lateDialog, latePart } from '../../loading/late.tsx'
import { BackLink } from '../../parts/back_link.tsx'
import { Empty, QueryView } from '../../parts/query_view.tsx'
import { Title } from '../../parts/title.tsx'
import { ANY, useQueryParams } from '../../scope.ts'
import { SectionList } from '../section_list.tsx'
import { DELIVERY_PARAMS } from './deliveries/delivery_filters.tsx'
import { DeliveryLog } from './deliveries/delivery_log.tsx'
import { TestEvent } from './deliveries/test_event.tsx'
import { Pause, Resume, Retry } from './endpoint_pausing.tsx'
import { type EndpointAction, EndpointStatus } from './endpoint_status.tsx'
import { Replays } from './replay/replays.tsx'
import { Secret } from './secret.tsx'
import { type Endpoint, useEndpoint } from './webhook_queries.ts'

const DeliveryDialog = lateDialog('Delivery', () =>
  import('./deliveries/delivery_dialog.tsx').then((module) => module.DeliveryDialog),
)
const ReplayDialog = lateDialog('Replay', () =>
  import('./replay/replay_dialog.tsx').then((module) => module.ReplayDialog),
)

const Verification = latePart('This part', () =>
  import('./verification/verification.tsx').then((module) => module.Verification),
)
const EditEndpoint = lateDialog('Edit endpoint', () =>
  import('./form/endpoint_dialogs.tsx').then((module) => module.EditEndpoint),
)
const DeleteEndpoint = lateDialog('Delete endpoint', () =>
  import('./form/endpoint_dialogs.tsx').then((module) => module.DeleteEndpoint),
)

type ActionDialogProps = { action: EndpointAction | null; endpoint: Endpoint; onClose: () => void }

function ActionDialog({ action, ...props }: ActionDialogProps): JSX.Element | null {
  switch (action) {
    case 'test':
      return <TestEvent {...props} />
    case 'retry':
      return <Retry {...props} />
    case 'pause':
      return <Pause {...props} />
    case 'resume':
      return <Resume {...props} />
    case 'replay':
      return <ReplayDialog {...props} />
    case 'edit':
      return <EditEndpoint {...props} />
    case 'delete':
      return <DeleteEndpoint {...props} />
    default:
      return null
  }
}

function Details({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const [params, change] = useQueryParams()
  const [action, setAction] = useState<EndpointAction | null>(null)
  // The dialogs list apps.
  useApps()
  return (
    <div class="section">
      <EndpointStatus endpoint={endpoint} onAction={setAction} />
      <DeliveryLog endpoint={endpoint} onTest={() => setAction('test')} />
      <Replays endpoint_id={endpoint.id} />
      <Secret endpoint={endpoint} />
      <Verification endpoint={endpoint} />
      <ActionDialog action={action} endpoint={endpoint} onClose={() => setAction(null)} />
      {params.delivery && (
        <DeliveryDialog
          key={params.delivery}
          id={params.delivery}
          isActive={endpoint.state === 'active'}
          onClose={() => change({ delivery: null })}
        />
      )}
    </div>
  )
}

const PARAMS = { ...DELIVERY_PARAMS, delivery: ANY }

export function EndpointPage(): JSX.Element {
  const { params } = useRoute()
  const result = useEndpoint(params.id ?? '')
  return (
    <main class="page settings settings-page" id="content">
      <UnusedNotice params={PARAMS} />
      <SectionList current="webhooks" />
      <div class="section">
        <BackLink to="/settings/webhooks" title="Webhooks" />
        <Title class="webhook-url">{result.data?.name ?? 'Endpoint'}</Title>
        {result.problem?.status === 404 ? (
          <Empty icon="search" title="Endpoint not found">
            <p class="mono tiny">{params.id}</p>
          </Empty>
        ) : (
          <QueryView result={result} height={640}>
            {(endpoint) => <Details endpoint={endpoint} />}
          </QueryView>
        )}
      </div>
    </main>
  )
}
