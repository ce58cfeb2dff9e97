/** The dialog that replays past events, with a preview of how many. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { ReplayPreview } from '../../../../../api/forwarding/answers.ts'
import { TypePick } from '../../../events/filter_bar.tsx'
import { write } from '../../../http.ts'
import { Dialog, useMutation } from '../../../parts/dialog.tsx'
import { ErrorMessage } from '../../../parts/error_message.tsx'
import { Segments } from '../../../parts/popover.tsx'
import { count, instant, plural } from '../../../words.ts'
import { AppChoice } from '../../app_choice.tsx'
import { type Endpoint, endpointPath, refreshWebhooks } from '../webhook_queries.ts'
import {
  EMPTY_REPLAY,
  type ReplayDraft,
  type ReplayMode,
  replayBody,
  replayProblem,
} from './replay_request.ts'

type Preview = InferOutput<typeof ReplayPreview>
type FieldsProps = { draft: ReplayDraft; change: (changes: Partial<ReplayDraft>) => void }

const MODES: { value: ReplayMode; title: string }[] = [
  { value: 'time', title: 'Time range' },
  { value: 'seq', title: 'Seq range' },
  { value: 'failed', title: 'All that failed' },
]
const ENVIRONMENTS = [
  { value: '', title: 'Both' },
  { value: 'production', title: 'Production' },
  { value: 'sandbox', title: 'Sandbox' },
] as const

type BoundProps = {
  label: string
  type: 'datetime-local' | 'number'
  value: string
  onInput: (value: string) => void
}
const Bound = ({ label, type, value, onInput }: BoundProps): JSX.Element => (
  <label class="field grow">
    <span>{label}</span>
    <input
      class="input"
      type={type}
      {...(type === 'number' && { min: 1 })}
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  </label>
)

function Range({ draft, change }: FieldsProps): JSX.Element {
  if (draft.mode === 'failed')
    return (
      <p class="small quiet">Deliveries that were given up, and neither delivered since nor dismissed.</p>
    )
  return draft.mode === 'time' ? (
    <div class="row">
      <Bound label="From" type="datetime-local" value={draft.from} onInput={(from) => change({ from })} />
      <Bound label="Until" type="datetime-local" value={draft.until} onInput={(until) => change({ until })} />
    </div>
  ) : (
    <div class="row">
      <Bound
        label="First seq"
        type="number"
        value={draft.from_seq}
        onInput={(from_seq) => change({ from_seq })}
      />
      <Bound
        label="Last seq"
        type="number"
        value={draft.until_seq}
        onInput={(until_seq) => change({ until_seq })}
      />
    </div>
  )
}

type FiltersProps = FieldsProps & { endpoint: Endpoint }
const Filters = ({ draft, change, endpoint }: FiltersProps): JSX.Element => (
  <details>
    <summary class="small">Only some of them</summary>
    <div class="stack details-body">
      {endpoint.kind === 'events' && (
        <div>
          <TypePick types={draft.types} onPick={(types) => change({ types })} />
        </div>
      )}
      <Segments
        title="Environment"
        value={draft.environment ?? ''}
        choices={ENVIRONMENTS}
        onPick={(value) => change({ environment: value || null })}
      />
      <AppChoice
        value={draft.apps}
        organization_id={endpoint.organization_id}
        onChange={(apps) => change({ apps })}
      />
    </div>
  </details>
)

function PreviewWords({ preview, noun }: { preview: Preview; noun: string }): JSX.Element {
  const { matching, is_capped, first_at, last_at } = preview
  if (matching === 0)
    return (
      <p class="notice" role="status">
        Nothing matches.
      </p>
    )
  return (
    <p class="notice" role="status">
      <span>
        <strong>
          {is_capped && 'More than '}
          {plural(matching, noun)}
        </strong>
        {first_at !== null && last_at !== null && `, from ${instant(first_at)} to ${instant(last_at)}`}
      </span>
    </p>
  )
}

/** Replays count what the endpoint itself would receive. */
function useReplay(endpoint: Endpoint, draft: ReplayDraft, onClose: () => void) {
  const path = endpointPath(endpoint.id, 'replay')
  const [preview, setPreview] = useState<Preview | null>(null)
  const looking = useMutation(async () =>
    setPreview(await write<Preview>('POST', path, { ...replayBody(draft), preview: true })),
  )
  const starting = useMutation(async () => {
    await write('POST', path, replayBody(draft))
    await refreshWebhooks()
    onClose()
  })
  return { preview, setPreview, looking, starting }
}

type ReplayDialogProps = { endpoint: Endpoint; onClose: () => void }
export function ReplayDialog({ endpoint, onClose }: ReplayDialogProps): JSX.Element {
  const [draft, setDraft] = useState<ReplayDraft>(EMPTY_REPLAY)
  const { preview, setPreview, looking, starting } = useReplay(endpoint, draft, onClose)
  const change = (changes: Partial<ReplayDraft>): void => {
    setPreview(null)
    setDraft((before) => ({ ...before, ...changes }))
  }
  const problem = replayProblem(draft)
  const noun = endpoint.kind === 'apple' ? 'notification' : 'event'
  const modes = endpoint.kind === 'apple' ? MODES.filter(({ value }) => value !== 'seq') : MODES
  return (
    <Dialog title={`Replay to “${endpoint.name}”`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          looking.run()
        }}
      >
        <p class="small quiet">
          Past {noun}s are sent again with the same ids. Receivers that keep ids skip what they have.
        </p>
        <Segments
          title="What to replay"
          value={draft.mode}
          choices={modes}
          onPick={(mode) => change({ mode })}
        />
        <Range draft={draft} change={change} />
        <Filters draft={draft} change={change} endpoint={endpoint} />
        {problem !== null && <p class="small quiet">{problem}</p>}
        <ErrorMessage message={looking.problem ?? starting.problem} />
        {preview && <PreviewWords preview={preview} noun={noun} />}
        <div class="sheet-foot">
          <button type="submit" class="button" disabled={problem !== null || looking.isBusy}>
            Preview
          </button>
          <button
            type="button"
            class="button main"
            disabled={preview === null || preview.matching === 0 || starting.isBusy}
            onClick={starting.run}
          >
            {preview === null || preview.matching === 0
              ? 'Replay'
              : `Replay ${count(preview.matching)}${preview.is_capped ? '+' : ''}`}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
