/** Status findings that need attention. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useNow } from '../now.ts'
import { CommandCopy } from '../parts/copy.tsx'
import { useMutation } from '../parts/dialog.tsx'
import { Icon } from '../parts/icons.tsx'
import { useScope } from '../scope.ts'
import { connectPending } from '../settings/connect/connect_pending.tsx'
import { ago, count, share } from '../words.ts'
import { detailOf, type StatusRow } from './status.ts'

const PENDING = 'pending:'
const LEVEL_TONES = { ok: 'good', notice: 'accent', warning: 'warn', error: 'bad' } as const

/** `id` is `pending:BUNDLE_ID`, followed by `:ORGANIZATION` if the notification URL named one. */
function Connect({ id }: { id: string }): JSX.Element {
  const [, bundle = '', organization = null] = id.split(':')
  const { run, isBusy, problem } = useMutation(() => connectPending(bundle, organization))
  return (
    <div class="stack-s">
      <button type="button" class="button main" disabled={isBusy} onClick={run}>
        Connect
      </button>
      {problem && (
        <p class="small bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  )
}

function Action({ row }: { row: StatusRow }): JSX.Element | null {
  const { href } = useScope()
  if (row.id.startsWith(PENDING)) return <Connect id={row.id} />
  if (!row.action) return null
  const { label, href: target, command } = row.action
  if (!target) return command ? <CommandCopy text={command} label={`the command to ${label}`} /> : null
  const [path = '/', section] = target.split('#')
  return (
    <a class="button" href={href(section ? `${path}/${section}` : path)}>
      {label}
    </a>
  )
}

function Row({ row }: { row: StatusRow }): JSX.Element {
  const now = useNow()
  const { progress } = row
  return (
    <li class={`system-row ${LEVEL_TONES[row.level]}`}>
      <Icon name={row.level === 'notice' ? 'info' : 'warning'} />
      <div class="system-words">
        <strong>{row.title}</strong>
        {row.since !== null && <span class="quiet"> {ago(row.since, now)}</span>}
        {row.detail && <p class="small">{detailOf(row)}</p>}
        {row.cause && (
          <details class="tiny quiet">
            <summary>Details</summary>
            {row.cause}
          </details>
        )}
        {progress && progress.of > 0 && (
          <div class="system-progress">
            <progress value={progress.done} max={progress.of} aria-label={row.title} />
            <span class="tiny">
              {share(progress.done / progress.of, 0)}, {count(progress.done)} of {count(progress.of)}
            </span>
          </div>
        )}
      </div>
      <Action row={row} />
    </li>
  )
}

/** How many findings are shown before expanding: one on a phone, where the figures must stay visible. */
const MAX_COLLAPSED = matchMedia('(max-width: 700px)').matches ? 1 : 3

export function System({ rows: all }: { rows: StatusRow[] }): JSX.Element | null {
  const [isExpanded, setExpanded] = useState(false)
  if (all.length === 0) return null
  const rows = isExpanded ? all : all.slice(0, MAX_COLLAPSED)
  return (
    <section class="card system" aria-label="Needs attention">
      <ul>
        {rows.map((row) => (
          <Row key={row.id} row={row} />
        ))}
      </ul>
      {all.length > MAX_COLLAPSED && (
        <button type="button" class="button plain system-more" onClick={() => setExpanded(!isExpanded)}>
          {isExpanded ? 'Show fewer' : `Show ${count(all.length - MAX_COLLAPSED)} more`}
        </button>
      )}
    </section>
  )
}
