/** The notice that outgoing requests are held, after a restore or a copy. */
import type { JSX } from 'preact'
import { commandLine } from '../parts/copy.tsx'
import { useSession } from '../session.ts'
import { useHeld } from '../settings/webhooks/webhook_queries.ts'
import { instant } from '../words.ts'

const REASONS = { restored: 'the database was restored', copied: 'the database is a copy' }

/** Nothing for guests, and while requests are sent. */
export function HeldBanner(): JSX.Element | null {
  const held = useHeld(useSession().state === 'owner')
  if (held === null) return null
  return (
    <div class="banner" role="status">
      Outgoing requests are held: {REASONS[held.reason]} on {instant(held.at)}, and the original may still
      serve. To send, run <code>{commandLine('windfall outgoing resume')}</code>
    </div>
  )
}
