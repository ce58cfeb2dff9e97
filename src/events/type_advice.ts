/** What to write in place of an unknown event type. */
import { closestMatch } from '../config/checks/suggest.ts'
import { EVENT_TYPES } from './vocabulary.ts'

/** A sentence with the event type that `type` is a misspelling of, or with the page that lists them. */
export function adviceOnType(type: string): string {
  const suggestion = closestMatch(type, EVENT_TYPES, (known) => known)
  return suggestion === null ? 'docs/webhook-events.md lists the types.' : `Did you mean "${suggestion}"?`
}
