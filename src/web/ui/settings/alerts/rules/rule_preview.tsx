/** Shows which events of the last seven days a rule would have told. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { write } from '../../../http.ts'
import { RelativeTime } from '../../../parts/relative_time.tsx'
import { plural } from '../../../words.ts'
import { type Preview, RULES_PATH } from '../alert_queries.ts'
import { type RuleDraft, settingsOf } from './rule_draft.ts'

/** The preview follows the form after this pause. */
const PAUSE_MS = 400

export function RulePreview({ draft }: { draft: RuleDraft }): JSX.Element | null {
  const { organization_id, template } = draft
  const body = { ...(organization_id !== null && { organization_id }), template, settings: settingsOf(draft) }
  const key = JSON.stringify(body)
  const [shown, setShown] = useState<Preview['preview'] | undefined>(undefined)
  useEffect(() => {
    let isCurrent = true
    const timer = setTimeout(() => {
      write<Preview>('POST', `${RULES_PATH}/preview`, body).then(
        ({ preview }) => isCurrent && setShown(preview),
        () => isCurrent && setShown(undefined),
      )
    }, PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [key])
  if (shown === undefined || shown === null) return null
  return (
    <section class="rule-preview stack-s" aria-label="Preview" aria-live="polite">
      <p class="small">
        {shown.count === 0
          ? 'In the last 7 days this rule would have sent nothing.'
          : `In the last 7 days this rule would have sent ${plural(shown.count, 'message')}, before quiet hours and limits:`}
      </p>
      <ul class="plain-list">
        {shown.messages.slice(0, 3).map(({ event_id, at, title, body: text }) => (
          <li key={event_id} class="small">
            <strong>{title}</strong>{' '}
            <span class="quiet">
              <RelativeTime at={at} />
            </span>
            <div class="tiny quiet">{text}</div>
          </li>
        ))}
      </ul>
    </section>
  )
}
