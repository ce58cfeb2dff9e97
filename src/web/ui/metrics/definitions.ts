/** Metric definitions from the API. The page has no texts of its own for them. */
import type { InferOutput } from 'valibot'
import type { DefinitionsAnswer } from '../../../api/metrics/answers.ts'
import { type QueryResult, useQuery } from '../queries.ts'
import { sentence } from '../words.ts'

type Answer = InferOutput<typeof DefinitionsAnswer>
export type Definition = Answer['metrics'][number]

/** All definitions in the API's order. */
export function useDefinitions(): Omit<QueryResult<Answer>, 'data'> & { data: Definition[] | undefined } {
  const result = useQuery<Answer>('/api/v1/metrics')
  return { ...result, data: result.data?.metrics }
}

/** The definition of one metric; undefined until loaded. */
export const useDefinition = (name: string): Definition | undefined =>
  useDefinitions().data?.find((one) => one.name === name)

/** Definitions of cohort, customer and coverage figures. */
export const useOtherDefinitions = (): Omit<Answer, 'metrics'> | undefined =>
  useQuery<Answer>('/api/v1/metrics').data

/** Signs that make the first sentence of a definition a formula. */
const CALCULATION = /[Σ÷×−=]/

/** Splits a definition's text into its formula and the sentences that follow; without a formula, all is prose. */
export function formulaParts(text: string): { formula: string | null; prose: string } {
  const [first = '', ...others] = text.split(/(?<=\.) /)
  const isFormula = CALCULATION.test(first)
  const prose = (isFormula ? others : [first, ...others]).map(sentence).join(' ')
  return {
    formula: isFormula ? first.replace(/\.$/, '') : null,
    prose: prose === '' || /[.)]$/.test(prose) ? prose : `${prose}.`,
  }
}
