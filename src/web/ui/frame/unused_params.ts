/** The parameters of an address that a view does not use: unknown ones, and those with an unknown value. */
import { canonical, type ParamCheck, SCOPE_PARAMS } from '../scope.ts'

/** The parameters that a view has beside those of the scope. */
export type ViewParams = Readonly<Record<string, ParamCheck>>

export type UnusedParam = {
  /** As in the address. */
  name: string
  /** The value that the parameter cannot have; null if the view has no such parameter. */
  value: string | null
}

/** Empty parameters ask for nothing, so they are left out. */
export function unusedParams(address: Record<string, string>, view: ViewParams): UnusedParam[] {
  const query = canonical(address)
  const params = { ...SCOPE_PARAMS, ...view }
  return Object.entries(address).flatMap(([name, value]): UnusedParam[] => {
    const [known = name] = Object.keys(canonical({ [name]: value }))
    const check = Object.hasOwn(params, known) ? params[known] : undefined
    if (value === '') return []
    if (check === undefined) return [{ name, value: null }]
    const isUsed = typeof check === 'function' ? check(value, query) : check.includes(value)
    return isUsed ? [] : [{ name, value }]
  })
}

/** The parameters of cards of a view. */
export const cardParams = (prefixes: readonly string[], own: ViewParams): ViewParams =>
  Object.fromEntries(
    prefixes.flatMap((prefix) =>
      Object.entries(own).map(([name, check]) => [`${prefix}.${name}`, check] as const),
    ),
  )
