/** The text of a message about a finding: its beginning, its end, or that it comes and goes. */
import { utcMinuteText } from '../../days.ts'
import { durationText } from '../../health/findings.ts'
import type { FindingText, Subject, Text } from './content.ts'
import { plain } from './wording.ts'

type FindingSubject = Extract<Subject, { about: 'finding' }>

/** The text of a message about a finding. `happened_at` in ms since the epoch. */
export function findingText(subject: FindingSubject, happened_at: number): Text {
  const { state, finding, remains } = subject
  const { title, text, level, end_title = `Over: ${title}` } = finding
  const begun = level === 'fault' ? '🔴' : '🟠'
  const titles = {
    began: `${begun} ${title}`,
    ended: remains === undefined ? `🟢 ${end_title}` : `🟠 Ended with a loss: ${title}`,
    flapping: `🟠 Comes and goes: ${title}`,
  }
  const words = plain(titles[state], remains ?? (state === 'ended' ? seenText(finding, happened_at) : text))
  return { shown: words, hidden: words, path: '/', urgency: urgencyOf(subject) }
}

/** When a finding that is over was seen. Its own text says what is the case, and what to do, while it lasts. */
function seenText({ about, since }: FindingText, ended_at: number): string {
  const seen = `seen from ${utcMinuteText(since)} on, for ${durationText(ended_at - since)}.`
  return about === undefined ? `It was ${seen}` : `${about}: it was ${seen}`
}

/** A fault and a loss are urgent. A warning is not, nor is the end of either. */
function urgencyOf({ state, finding, remains }: FindingSubject): Text['urgency'] {
  if (state === 'ended') return remains === undefined ? 'normal' : 'trouble'
  return finding.level === 'fault' ? 'trouble' : 'warning'
}
