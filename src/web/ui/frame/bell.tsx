/** The bell: what needs the owner, with the number of findings that were not read on this device. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../parts/icons.tsx'
import { Popover } from '../parts/popover.tsx'
import { RelativeTime } from '../parts/relative_time.tsx'
import { useScope } from '../scope.ts'
import { detailOf, type StatusRow, useStatus } from '../today/status.ts'
import { plural } from '../words.ts'

const READ_KEY = 'read-findings'
/** Notices and what is fine do not ring the bell. */
const isTrouble = ({ level }: StatusRow): boolean => level === 'warning' || level === 'error'
/** A finding that ends and begins again is unread again. */
const keyOf = ({ id, since }: StatusRow): string => `${id}@${since}`

function storedKeys(): string[] {
  try {
    const keys: unknown = JSON.parse(localStorage.getItem(READ_KEY) ?? '[]')
    return Array.isArray(keys) ? keys.map(String) : []
  } catch {
    return []
  }
}

export type Trouble = { rows: StatusRow[]; unread: StatusRow[]; markRead: () => void }

/** The findings, and those that were not read. `markRead` forgets findings that are over. */
export function useTrouble(isOwner: boolean): Trouble {
  const rows = (useStatus(!isOwner).data?.rows ?? []).filter(isTrouble)
  const [read, setRead] = useState(storedKeys)
  const unread = rows.filter((row) => !read.includes(keyOf(row)))
  function markRead(): void {
    const keys = rows.map(keyOf)
    localStorage.setItem(READ_KEY, JSON.stringify(keys))
    setRead(keys)
    // The red number on the icon of an installed app counts findings too.
    if ('clearAppBadge' in navigator) navigator.clearAppBadge().catch(() => undefined)
  }
  return { rows, unread, markRead }
}

const Row = ({ row }: { row: StatusRow }): JSX.Element => (
  <li class={`bell-row ${row.level === 'error' ? 'bad' : 'warn'}`}>
    <strong>{row.title}</strong>
    {row.detail && <div class="small">{detailOf(row)}</div>}
    {row.since !== null && (
      <div class="tiny quiet">
        <RelativeTime at={row.since} />
      </div>
    )}
  </li>
)

type ListProps = { rows: StatusRow[]; onShown: () => void; close: () => void }
/** The list becomes read when it is shown. */
function List({ rows, onShown, close }: ListProps): JSX.Element {
  const { href } = useScope()
  useEffect(onShown, [])
  return (
    <>
      {rows.length === 0 ? (
        <p class="small">Nothing needs you.</p>
      ) : (
        <ul class="plain-list">
          {rows.map((row) => (
            <Row key={keyOf(row)} row={row} />
          ))}
        </ul>
      )}
      <hr />
      <a class="item" href={href('/')} onClick={close}>
        Today
      </a>
      <a class="item" href={href('/settings/alerts')} onClick={close}>
        Alerts
      </a>
    </>
  )
}

export function Bell({ trouble: { rows, unread, markRead } }: { trouble: Trouble }): JSX.Element {
  const title = unread.length === 0 ? 'Alerts' : `Alerts: ${plural(unread.length, 'unread finding')}`
  return (
    <Popover
      buttonClass="button plain icon bell"
      class="menu bell-list"
      title={title}
      role="dialog"
      label={
        <>
          <Icon name="bell" />
          {unread.length > 0 && <span class="bell-count">{unread.length}</span>}
        </>
      }
    >
      {(close) => <List rows={rows} onShown={markRead} close={close} />}
    </Popover>
  )
}
