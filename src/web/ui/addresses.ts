/** Lookup of views by path. */
import { VIEWS } from '../views.ts'

type View = (typeof VIEWS)[number]
/** A view with an entry in the navigation. */
export type NamedView = Extract<View, { navigation: object }>
/** A sign-in path. Its token is in the fragment, which server logs and link previews do not see. */
export type SignInPath = Extract<View, { view: 'sign_in' }>['path']

/** The views in the navigation, in its order. */
export const NAMED_VIEWS: readonly NamedView[] = VIEWS.filter((one) => 'navigation' in one)
/** All sign-in paths. */
export const SIGN_IN_PATHS: readonly SignInPath[] = VIEWS.flatMap((one) =>
  one.view === 'sign_in' ? [one.path] : [],
)

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '')

/** The view at a path, or undefined. */
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
