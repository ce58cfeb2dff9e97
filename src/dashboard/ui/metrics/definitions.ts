/** What every metric means, in the server's words: this page invents none. */
import type { InferOutput } from 'valibot'
import type { DefinitionsAnswer } from '../../metrics_answers.ts'
import { useAnswer } from '../answers.ts'

export type Definition = InferOutput<typeof DefinitionsAnswer>['metrics'][number]

/** One metric's definition, once they are there. */
export function useDefinition(name: string): Definition | undefined {
  const { data } = useAnswer<InferOutput<typeof DefinitionsAnswer>>('/api/v1/metrics')
  return data?.metrics.find((one) => one.name === name)
}
