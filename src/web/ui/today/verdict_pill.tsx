/** The verdict on this server in a few words, as a link to what it rests on. */
import type { JSX } from 'preact'
import { Icon } from '../parts/icons.tsx'
import { useScope } from '../scope.ts'
import { plural } from '../words.ts'
import type { Verdict } from './status.ts'

const TONES = { ok: 'good', warning: 'warn', error: 'bad' } as const

/** What the verdict counts: errors and warnings, or that there are none. */
function wordsOf({ errors, warnings }: Verdict): string {
  const counts = [errors > 0 && plural(errors, 'error'), warnings > 0 && plural(warnings, 'warning')]
  return counts.filter((one) => one !== false).join(', ') || 'Everything works'
}

/** The verdict, as a link to the System page. */
export function VerdictPill({ verdict }: { verdict: Verdict }): JSX.Element {
  const { href } = useScope()
  return (
    <a class={`badge ${TONES[verdict.level]}`} href={href('/settings/system')}>
      <Icon name={verdict.level === 'ok' ? 'check' : 'warning'} /> {wordsOf(verdict)}
    </a>
  )
}
