/** The query of the server's status. */
import type { InferOutput } from 'valibot'
import type { StatusAnswer } from '../../../api/status_answers.ts'
import { type QueryResult, useQuery } from '../queries.ts'
import { sentence } from '../words.ts'
import { withCommands } from './commands.ts'

type Status = InferOutput<typeof StatusAnswer>
export type StatusRow = Status['rows'][number]
export type Verdict = NonNullable<Status['verdict']>

/** The finding that the first import runs. A banner shows it on every view. */
export const FIRST_IMPORT = 'import:first'

/** What a finding says, as a sentence. A name at its beginning stays as it was declared. */
export const detailOf = ({ detail, about }: Pick<StatusRow, 'detail' | 'about'>): string => {
  const words = withCommands(detail)
  return about !== null && words.startsWith(about) ? words : sentence(words)
}

const INTERVAL_MS = 30_000

export const useStatus = (wait = false, interval_ms = INTERVAL_MS): QueryResult<Status> =>
  useQuery<Status>('/api/v1/status', {}, { interval_ms, wait })
