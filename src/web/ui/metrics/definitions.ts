/** What every metric means, in the server's words: this page invents none. */
import type { InferOutput } from 'valibot'
import type { DefinitionsAnswer } from '../../../api/metrics/answers.ts'
import { type QueryResult, useQuery } from '../queries.ts'

type Answer = InferOutput<typeof DefinitionsAnswer>
export type Definition = Answer['metrics'][number]

/** All of them, in the server's order. */
export function useDefinitions(): Omit<QueryResult<Answer>, 'data'> & { data: Definition[] | undefined } {
  const result = useQuery<Answer>('/api/v1/metrics')
  return { ...result, data: result.data?.metrics }
}

/** One metric's definition, once they are there. */
export const useDefinition = (name: string): Definition | undefined =>
  useDefinitions().data?.find((one) => one.name === name)

/** What the numbers of cohorts, customers and the coverage mean, by their names there. */
export const useOtherDefinitions = (): Omit<Answer, 'metrics'> | undefined =>
  useQuery<Answer>('/api/v1/metrics').data
