/** The request of a replay: what the form selects. */

export type ReplayMode = 'time' | 'seq' | 'failed'
export type ReplayDraft = {
  mode: ReplayMode
  /** Local times as the browser gives them, `2026-11-22T14:00`; empty is open. */
  from: string
  until: string
  /** Sequence numbers as entered; empty is open. */
  from_seq: string
  until_seq: string
  types: string[]
  apps: string[] | null
  environment: string | null
}

export const EMPTY_REPLAY: ReplayDraft = {
  mode: 'time',
  from: '',
  until: '',
  from_seq: '',
  until_seq: '',
  types: [],
  apps: null,
  environment: null,
}

const instantOf = (text: string): number | undefined => (text === '' ? undefined : new Date(text).getTime())
const seqOf = (text: string): number | undefined => (text === '' ? undefined : Number(text))

type Bounds = [name: string, value: number | undefined][]

function boundsOf({ mode, from, until, from_seq, until_seq }: ReplayDraft): Bounds {
  if (mode === 'time')
    return [
      ['from_at', instantOf(from)],
      ['until_at', instantOf(until)],
    ]
  if (mode === 'seq')
    return [
      ['from_seq', seqOf(from_seq)],
      ['until_seq', seqOf(until_seq)],
    ]
  return []
}

/** What is wrong with the selection; null if it can be replayed. */
export function replayProblem(draft: ReplayDraft): string | null {
  const [first, last] = boundsOf(draft).map(([, value]) => value)
  if (draft.mode === 'time' && first === undefined && last === undefined)
    return 'Enter the beginning or the end of the range.'
  if (draft.mode === 'seq' && first === undefined && last === undefined)
    return 'Enter the first or the last sequence number.'
  if (draft.mode === 'seq' && [first, last].some((one) => one !== undefined && !Number.isSafeInteger(one)))
    return 'A sequence number is a whole number.'
  return first !== undefined && last !== undefined && first > last ? 'The range ends before it begins.' : null
}

/** The body of the replay request, without `preview`. */
export function replayBody(draft: ReplayDraft): Record<string, unknown> {
  const { mode, types, apps, environment } = draft
  const bounds = boundsOf(draft).filter(([, value]) => value !== undefined)
  return {
    ...(mode === 'failed' && { failed: true }),
    ...Object.fromEntries(bounds),
    ...(types.length > 0 && { types }),
    ...(apps !== null && { apps }),
    ...(environment !== null && { environment }),
  }
}
