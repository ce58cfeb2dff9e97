/** The state of an endpoint, its figures, its settings and its actions. */
import type { JSX } from 'preact'
import { eventLabel } from '../../events/event_labels.ts'
import { Card, Stat } from '../../parts/card.tsx'
import { CodeProse } from '../../parts/code_prose.tsx'
import { Icon, type IconName } from '../../parts/icons.tsx'
import { RelativeTime } from '../../parts/relative_time.tsx'
import { count, plural, share, UNKNOWN } from '../../words.ts'
import { GrantedApps } from '../access/grant_form.tsx'
import { Losses } from './endpoint_losses.tsx'
import { StateBadge, Waiting } from './endpoint_parts.tsx'
import { isDeclared, isStopped, stateWords, successRate } from './endpoint_state.ts'
import type { Endpoint } from './webhook_queries.ts'

export type EndpointAction = 'retry' | 'test' | 'pause' | 'resume' | 'replay' | 'edit' | 'delete'
type StatusProps = { endpoint: Endpoint; onAction: (action: EndpointAction) => void }

const ACTIONS: Record<EndpointAction, { title: string; icon: IconName }> = {
  retry: { title: 'Retry now', icon: 'send' },
  test: { title: 'Send test event', icon: 'send' },
  pause: { title: 'Pause', icon: 'pause' },
  resume: { title: 'Resume', icon: 'play' },
  replay: { title: 'Replay', icon: 'undo' },
  edit: { title: 'Edit', icon: 'settings' },
  delete: { title: 'Delete', icon: 'trash' },
}

function actionsOf(endpoint: Endpoint): EndpointAction[] {
  const isOwn = !isDeclared(endpoint)
  const isRemoved = endpoint.reason === 'config_removed'
  const offered: [EndpointAction, boolean][] = [
    // A failing endpoint goes on by itself. To resume it would count the attempts on the schedule of its events.
    ['resume', isStopped(endpoint) && !isRemoved],
    ['retry', endpoint.health.waiting > 0 && !isStopped(endpoint)],
    ['pause', !isStopped(endpoint)],
    // Only Apple signs its notifications. Without its section in config.toml an endpoint has no secret.
    ['test', endpoint.kind === 'events' && !isRemoved],
    ['replay', true],
    ['edit', isOwn],
    ['delete', isOwn || isRemoved],
  ]
  return offered.flatMap(([action, isOffered]) => (isOffered ? [action] : []))
}

function buttonClass(action: EndpointAction, { state }: Endpoint): string {
  if (action === 'delete') return 'button danger'
  const isRemedy = action === 'resume' || (action === 'retry' && state === 'failing')
  return isRemedy ? 'button main' : 'button'
}

const Actions = ({ endpoint, onAction }: StatusProps): JSX.Element => (
  <div class="row">
    {actionsOf(endpoint).map((action) => (
      <button
        key={action}
        type="button"
        class={buttonClass(action, endpoint)}
        onClick={() => onAction(action)}
      >
        <Icon name={ACTIONS[action].icon} /> {ACTIONS[action].title}
      </button>
    ))}
  </div>
)

function Figures({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const { health } = endpoint
  const rate = successRate(endpoint)
  return (
    <div class="stats">
      <Stat
        label="Succeeded"
        under={`${count(health.succeeded)} of ${plural(health.attempts, 'attempt')} in 7 days`}
      >
        {rate === null ? UNKNOWN : share(rate)}
      </Stat>
      <Stat
        label="Last success"
        under={
          <>
            last failure <RelativeTime at={health.last_failure_at} never="never" />
          </>
        }
      >
        <RelativeTime at={health.last_success_at} never="Never" />
      </Stat>
      <Stat label="Waiting">
        <Waiting endpoint={endpoint} />
      </Stat>
      <Stat label="Next attempt">
        <RelativeTime at={health.next_attempt_at} />
      </Stat>
    </div>
  )
}

function typesWords({ kind, types }: Endpoint): string {
  if (kind === 'apple') return 'Apple’s notifications as they came'
  return types === null ? 'Default events' : types.map((type) => eventLabel(type).title).join(', ')
}

function Facts({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const { environment, ordered, max_per_second, header_names, missing_types } = endpoint
  return (
    <dl class="facts">
      <dt>URL</dt>
      <dd class="mono tiny">{endpoint.url}</dd>
      <dt>Sends</dt>
      <dd>
        {typesWords(endpoint)}
        {ordered && ', each subscription in order'}
        {max_per_second !== null && `, at most ${plural(max_per_second, 'request')} in a second`}
        {missing_types.length > 0 && (
          <div class="tiny quiet">
            without {missing_types.map((type) => eventLabel(type).title.toLowerCase()).join(' and ')}, which
            are newer than this endpoint: choose them with <em>Edit</em>
          </div>
        )}
      </dd>
      <dt>Apps</dt>
      <dd>
        <GrantedApps apps={endpoint.apps} />
        {environment !== null && <span class="quiet">, {environment} only</span>}
      </dd>
      {header_names.length > 0 && (
        <>
          <dt>Own headers</dt>
          <dd class="mono tiny">{header_names.join(', ')}</dd>
        </>
      )}
      <dt>Created</dt>
      <dd>
        <RelativeTime at={endpoint.created_at} />, <code class="tiny">{endpoint.id}</code>
      </dd>
    </dl>
  )
}

export function EndpointStatus({ endpoint, onAction }: StatusProps): JSX.Element {
  const { tone, about, remedy } = stateWords(endpoint)
  // What was given up comes with the same advice.
  const hasAdvice = endpoint.state !== 'active' || endpoint.health.lost === 0
  return (
    <Card
      title={
        <>
          State <StateBadge endpoint={endpoint} />
        </>
      }
      plainTitle="State"
      tools={
        <span class="tiny quiet">
          changed <RelativeTime at={endpoint.state_since} />
        </span>
      }
      foot={
        isDeclared(endpoint) &&
        endpoint.reason !== 'config_removed' && (
          <span>
            <CodeProse text="This endpoint is declared in `config.toml`. Change or remove it there." />
          </span>
        )
      }
    >
      <div class="stack">
        {hasAdvice && (
          <div class={`notice ${tone === 'good' ? '' : tone}`} role="status">
            <p>
              <CodeProse text={about} /> {remedy && <CodeProse text={remedy} />}
            </p>
          </div>
        )}
        <Losses endpoint={endpoint} />
        <Figures endpoint={endpoint} />
        <Actions endpoint={endpoint} onAction={onAction} />
        <Facts endpoint={endpoint} />
      </div>
    </Card>
  )
}
