/** The addresses of views, as the page asks for them. */
import { VIEWS } from '../views.ts'

type View = (typeof VIEWS)[number]
/** A view that the navigation names. */
export type NamedView = Extract<View, { navigation: object }>
/** An address at which one signs in; a token comes in its fragment, so that no server's log and no preview sees it. */
export type SignInPath = Extract<View, { view: 'sign_in' }>['path']

/** The views of the navigation, in its order. */
export const NAMED_VIEWS: readonly NamedView[] = VIEWS.filter((one) => 'navigation' in one)
/** The addresses at which one signs in. */
export const SIGN_IN_PATHS: readonly SignInPath[] = VIEWS.flatMap((one) =>
  one.view === 'sign_in' ? [one.path] : [],
)

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

/** The view at an address; undefined where there is none. */
export function viewAt(path: string): View | undefined {
  const parts = partsOf(path)
  return VIEWS.find((one) => {
    const pattern = partsOf(one.path)
    return (
      pattern.length === parts.length &&
      pattern.every((part, at) => part.startsWith(':') || part === parts[at])
    )
  })
}
