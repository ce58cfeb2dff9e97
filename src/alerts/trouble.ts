/** Announces the findings of this instance: their beginning after two looks, their end after three, and those that flap. */
import type { Apps } from '../apps/apps.ts'
import type { Organizations } from '../apps/organizations.ts'
import type { Clock } from '../clock.ts'
import { type Finding, textOfFinding } from '../health/findings.ts'
import type { Store } from '../store/store.ts'
import type { Channels } from './channels/channels.ts'
import { findingIdOf } from './channels/findings.ts'
import { type Memory, ownerOf } from './memory.ts'
import type { FindingText } from './messages/content.ts'
import type { Messages } from './messages/messages.ts'
import { channelsOf } from './rules/following.ts'
import type { Rule, Rules } from './rules/rules.ts'

const LOOKS_TO_BEGIN = 2
const LOOKS_TO_END = 3
/** The beginnings within an hour from which a finding flaps. */
const FLAPS = 3
const HOUR_MS = 3_600_000
/** What is found so soon after a rule was made was there before it, unless it says that it began later. Looks come each minute. */
const FIRST_LOOK_MS = 90_000

/**
 * What a rule remembers of a finding. `seen` and `missed` count the last looks in a row. `announced`: whether its beginning
 * was announced (`silent`: it was there before the rule), and `announced_level` how severe it was then. `worse` counts the last looks in a row that show a fault of which a
 * warning was announced. `starts`: when it began, within the last hour.
 */
type Known = {
  finding: FindingText
  seen: number
  missed: number
  announced: 'no' | 'silent' | 'began' | 'flapping'
  announced_level: FindingText['level']
  worse: number
  began_at: number
  starts: number[]
}

type Deps = {
  store: Store
  clock: Clock
  apps: Pick<Apps, 'get'>
  organizations: Pick<Organizations, 'get'>
  memory: Memory
  rules: Pick<Rules, 'list'>
  channels: Pick<Channels, 'list'>
  messages: Messages
  findings: () => Promise<readonly Finding[]>
}

/** Opens the watch over findings. */
export function openTrouble(deps: Deps) {
  const { store, clock, apps, organizations, rules, findings } = deps
  const note = openNoting(deps)
  const { knownBy, knownWith, isOpen, isSeen, countOpen } = openKnown(deps)
  /** An organization that is removed from config.toml keeps its rules, and hears nothing more of this instance. */
  const isOfPresent = (rule: Rule): boolean => organizations.get(rule.organization_id)?.gone_at === null

  /** Compares the findings with those of the last looks. Called each minute. */
  async function look(): Promise<void> {
    const watching = rules.list().filter(isTrouble).filter(isOfPresent)
    if (watching.length === 0) return
    const found = await findings()
    await store.commit(() => {
      for (const rule of watching)
        lookFor(
          rule,
          found.filter((finding) => concerns(rule, finding)),
        )
    })
  }

  /** Whether a finding is about the organization of a rule, or about the whole instance, and severe enough. */
  function concerns({ organization_id, settings }: Rule, { state, details }: Finding): boolean {
    const owner = details?.organization_id ?? apps.get(details?.app_id ?? '')?.organization_id ?? null
    const isSevere = state === 'fault' || (state === 'warning' && settings.level === 'warning')
    return isSevere && (owner === null || owner === organization_id)
  }

  function lookFor(rule: Rule, found: readonly Finding[]): void {
    // Of several findings with one id, the first is reported.
    const open = Map.groupBy(found, idOf)
    for (const [id, [finding]] of open) {
      if (finding === undefined) continue
      const known = knownWith(rule, id)
      const isSilent = known === null && precedes(finding, rule, clock())
      const next = seenAgain(known, finding, clock())
      note(rule, isSilent ? { ...next, announced: 'silent' } : next)
    }
    for (const known of knownBy(rule))
      if (!open.has(known.finding.id)) note(rule, { ...known, seen: 0, missed: known.missed + 1 }, found)
  }

  return { look, isOpen, isSeen, countOpen }
}

/** Opens what rules remember of findings. */
function openKnown({ memory, rules }: Pick<Deps, 'memory' | 'rules'>) {
  const knownBy = (rule: Rule): Known[] =>
    memory.all(ownerOf(rule), 'finding').map(({ value }): Known => JSON.parse(value))

  function knownWith(rule: Rule, id: string): Known | null {
    const stored = memory.get(ownerOf(rule), keyOf(id))
    return stored && JSON.parse(stored.value)
  }

  /** The last looks in a row that missed a finding, of the rule of an organization that missed it least often. */
  const missedBy = (organization_id: string, finding_id: string): number =>
    Math.min(
      LOOKS_TO_END,
      ...rules
        .list(organization_id)
        .filter(({ template }) => template === 'trouble')
        .map((rule) => knownWith(rule, finding_id)?.missed ?? LOOKS_TO_END),
    )

  /** Whether a finding was reported at one of the last looks of a rule of an organization. */
  const isOpen = (organization_id: string, finding_id: string): boolean =>
    missedBy(organization_id, finding_id) < LOOKS_TO_END

  /** Whether the last look of a rule of an organization showed a finding. */
  const isSeen = (organization_id: string, finding_id: string): boolean =>
    missedBy(organization_id, finding_id) === 0

  /** The number of findings of an organization whose beginning was announced and whose end was not. */
  const countOpen = (organization_id: string): number => {
    const ofOrganization = rules
      .list(organization_id)
      .filter(({ is_on, template }) => is_on && template === 'trouble')
    const open = ofOrganization.flatMap(knownBy).filter(({ announced }) => announced !== 'no')
    return new Set(open.map(({ finding }) => finding.id)).size
  }

  return { knownBy, knownWith, isOpen, isSeen, countOpen }
}

/** The finding that says what the end of another left behind; null if there is none. */
const remainsOf = ({ finding: { id }, began_at }: Known, found: readonly Finding[]): Finding | null =>
  found.find(({ details }) => details?.remains?.of === id && details.remains.at >= began_at) ?? null

/** Whether a finding that is seen for the first time was there before its rule: the past is silent. */
const precedes = ({ details }: Finding, { created_at }: Rule, now: number): boolean =>
  now - created_at < FIRST_LOOK_MS && (details?.since ?? 0) < created_at

/** What is known of a finding after another look that shows it. */
function seenAgain(known: Known | null, finding: Finding, now: number): Known {
  const isNew =
    known === null || known.missed >= LOOKS_TO_END || (known.seen === 0 && known.announced === 'no')
  if (!isNew) {
    const isWorse =
      (known.announced === 'began' || known.announced === 'silent') &&
      known.announced_level === 'warning' &&
      finding.state === 'fault'
    const worse = isWorse ? known.worse + 1 : 0
    return { ...known, finding: textOf(finding, known.began_at), seen: known.seen + 1, missed: 0, worse }
  }
  const starts = [...(known?.starts ?? []), now].filter((at) => at > now - HOUR_MS)
  const first = textOf(finding, now)
  return {
    finding: first,
    seen: 1,
    missed: 0,
    announced: 'no',
    announced_level: first.level,
    worse: 0,
    began_at: now,
    starts,
  }
}

/** Returns the function that announces what a look shows, and remembers it. */
function openNoting({ clock, memory, channels, messages }: Deps) {
  /** `found`: the other findings of a look that misses it. */
  function note(rule: Rule, known: Known, found: readonly Finding[] = []): void {
    if (known.worse >= LOOKS_TO_BEGIN) return becomeFault(rule, known)
    const { missed, starts, seen } = known
    const isBeginning = known.announced === 'no' && seen >= LOOKS_TO_BEGIN
    const announced = isBeginning ? announceBeginning(rule, known) : known.announced
    const announced_level = isBeginning ? known.finding.level : known.announced_level
    const isOver = missed >= LOOKS_TO_END
    if (isOver && announced === 'began') announce(rule, known, 'ended', remainsOf(known, found))
    const isForgotten = isOver && starts.every((at) => at <= clock() - HOUR_MS)
    const key = keyOf(known.finding.id)
    if (isForgotten) return memory.forget(ownerOf(rule), key)
    const next: Known = { ...known, announced_level, announced: isOver ? 'no' : announced }
    memory.set(ownerOf(rule), key, JSON.stringify(next), clock())
  }

  /** Announces that a warning became a fault, as a beginning of its own. */
  function becomeFault(rule: Rule, known: Known): void {
    const began_at = clock()
    const next: Known = { ...known, announced: 'began', announced_level: 'fault', worse: 0, began_at }
    announce(rule, next, 'began')
    memory.set(ownerOf(rule), keyOf(known.finding.id), JSON.stringify(next), clock())
  }

  /** Announces that a finding began; the third time within an hour that it flaps, and after that nothing. */
  function announceBeginning(rule: Rule, known: Known): Known['announced'] {
    const { length: count } = known.starts
    const state = count >= FLAPS ? 'flapping' : 'began'
    if (count <= FLAPS) announce(rule, known, state)
    return state
  }

  function announce(
    rule: Rule,
    { finding, began_at }: Known,
    state: 'began' | 'ended' | 'flapping',
    remains: Finding | null = null,
  ): void {
    const left = remains && { remains: textOfFinding(remains) }
    const message = messages.add({
      organization_id: rule.organization_id,
      rule_id: rule.id,
      kind: 'trouble',
      key: `${state}/${rule.id}/${finding.id}/${began_at}`,
      content: { subject: { about: 'finding', state, finding, ...left } },
      happened_at: state === 'ended' ? clock() : began_at,
    })
    if (message === null) return
    // A channel that works again is no place to hear that it did not.
    const reached = channelsOf(channels, rule).filter(({ id }) => findingIdOf(id) !== finding.id)
    for (const { id } of reached) messages.addSend(message.id, id, clock())
  }

  return note
}

const keyOf = (id: string): string => `finding/${id}`
const idOf = ({ subject, details }: Finding): string => details?.alert_id ?? details?.id ?? subject

const textOf = (finding: Finding, since: number): FindingText => ({
  id: idOf(finding),
  title: finding.details?.title ?? finding.subject,
  text: textOfFinding(finding),
  level: finding.state === 'fault' ? 'fault' : 'warning',
  since,
  ...(finding.details?.end_title !== undefined && { end_title: finding.details.end_title }),
  ...(finding.details?.about !== undefined && { about: finding.details.about }),
})

const isTrouble = ({ is_on, template }: Rule): boolean => is_on && template === 'trouble'
