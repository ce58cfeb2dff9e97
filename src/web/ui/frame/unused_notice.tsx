/** The notice of what a view leaves out of its address, such as a mistyped parameter of a bookmark. */
import type { JSX } from 'preact'
import { canonical, useQueryParams } from '../scope.ts'
import { type UnusedParam, unusedParams, type ViewParams } from './unused_params.ts'

const MAX_SHOWN = 40

/** As in the address; a long one is cut. */
function textOf({ name, value }: UnusedParam): string {
  const text = value === null ? name : `${name}=${value}`
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

/** `params`: those that the view has beside the scope’s. Nothing while the view uses the whole address. */
export function UnusedNotice({ params = {} }: { params?: ViewParams | undefined }): JSX.Element | null {
  const [address, change] = useQueryParams()
  const unused = unusedParams(address, params)
  if (unused.length === 0) return null
  const remove = (): void => {
    const names = unused.flatMap(({ name }) => [name, ...Object.keys(canonical({ [name]: '' }))])
    change(Object.fromEntries(names.map((name) => [name, null])))
    // The button that had the focus is gone.
    document.querySelector('h1')?.focus()
  }
  return (
    <p class="notice unused" role="status">
      <span>
        Not used from the address:
        {unused.map((one) => (
          <code key={one.name}>{textOf(one)}</code>
        ))}
      </span>
      <button type="button" class="button plain" onClick={remove}>
        Remove
      </button>
    </p>
  )
}
