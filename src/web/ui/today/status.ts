/** The query of the server's status. */
import type { InferOutput } from 'valibot'
import type { StatusAnswer } from '../../../api/status_answers.ts'
import { type QueryResult, useQuery } from '../queries.ts'

type Status = InferOutput<typeof StatusAnswer>
export type StatusRow = Status['rows'][number]

export const useStatus = (wait = false): QueryResult<Status> =>
  useQuery<Status>('/api/v1/status', {}, { interval_ms: 30_000, wait })
