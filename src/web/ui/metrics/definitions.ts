/** What every metric means, in the server's words: this page invents none. */
import type { InferOutput } from 'valibot'
import type { DefinitionsAnswer } from '../../../api/metrics/answers.ts'
import { type Asked, useAnswer } from '../answers.ts'

type Answer = InferOutput<typeof DefinitionsAnswer>
export type Definition = Answer['metrics'][number]

/** All of them, in the server's order. */
export function useDefinitions(): Omit<Asked<Answer>, 'data'> & { data: Definition[] | undefined } {
  const asked = useAnswer<Answer>('/api/v1/metrics')
  return { ...asked, data: asked.data?.metrics }
}

/** One metric's definition, once they are there. */
export const useDefinition = (name: string): Definition | undefined =>
  useDefinitions().data?.find((one) => one.name === name)

/** What the numbers of cohorts, customers and the coverage mean, by their names there. */
export const useOtherWords = (): Omit<Answer, 'metrics'> | undefined =>
  useAnswer<Answer>('/api/v1/metrics').data
