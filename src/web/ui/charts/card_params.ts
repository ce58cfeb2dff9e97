/** The URL parameters of a card. */
import { useQueryParams } from '../scope.ts'

/** The URL parameters of a card with a chart. */
export const CHART_PARAMS = { as: ['table'] } as const

/** Reads and changes the URL parameters of a card. Their names start with `paramPrefix`, unless that is empty. */
export function useCardParams(paramPrefix: string): [(param: string) => string | null, typeof change] {
  const [params, setParam] = useQueryParams()
  const paramName = (param: string): string => (paramPrefix === '' ? param : `${paramPrefix}.${param}`)
  const change = (param: string, value: string | null): void => setParam({ [paramName(param)]: value })
  return [(param) => params[paramName(param)] ?? null, change]
}
