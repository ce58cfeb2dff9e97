/** The list of missing report days, grouped by reason. */
import type { JSX } from 'preact'
import { RelativeTime } from '../parts/relative_time.tsx'
import { count, day, plural, sentence } from '../words.ts'
import type { MissingDay, MissingDayGroup } from './missing_day_groups.ts'

const STATES: Record<MissingDay['state'], string> = {
  done: 'Imported',
  empty: 'Apple returned an empty report for a day that must have data',
  not_yet: 'Not available from Apple yet',
  missing: 'No longer available from Apple',
  failed: 'Could not be fetched or read',
}

const MAX_DAYS = 6

export function MissingDays({ groups }: { groups: MissingDayGroup[] }): JSX.Element | null {
  if (groups.length === 0) return null
  return (
    <div class="stack-s">
      <h3>Missing days</h3>
      <ul class="rows">
        {groups.map((group) => (
          <li key={`${group.report} ${group.state} ${group.reason}`} class="small stack-s">
            <span class="row">
              <strong>{sentence(group.report.replaceAll('_', ' '))}</strong>
              <span class={group.state === 'failed' ? 'badge bad' : 'badge'}>
                {plural(group.days.length, 'day')}
              </span>
              <span class="quiet">
                {group.days.slice(0, MAX_DAYS).map(day).join('; ')}
                {group.days.length > MAX_DAYS && ` and ${count(group.days.length - MAX_DAYS)} more`}
              </span>
            </span>
            <span class="quiet">
              {group.reason ? sentence(group.reason) : STATES[group.state]}
              {group.due_at !== null && (
                <>
                  {' '}
                  Next attempt <RelativeTime at={group.due_at} />.
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
