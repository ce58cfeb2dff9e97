/** Lookup of views by path. */
import { VIEWS } from '../views.ts'

type View = (typeof VIEWS)[number]
/** A view with an entry in the navigation. */
export type NavigationView = Extract<View, { navigation: object }>
/** A sign-in path. Its token is in the fragment, which server logs and link previews do not see. */
export type SignInPath = Extract<View, { view: 'sign_in' }>['path']

/** The views in the navigation, in the order shown. */
export const NAVIGATION_VIEWS: readonly NavigationView[] = VIEWS.filter((one) => 'navigation' in one)
/** All sign-in paths. */
export const SIGN_IN_PATHS: readonly SignInPath[] = VIEWS.flatMap((one) =>
  one.view === 'sign_in' ? [one.path] : [],
)

type Viewer = { state: string; metrics: readonly string[] | null }

/** Whether the owner or a guest has a view. */
export const hasView = ({ state, metrics }: Viewer, view: View): boolean =>
  state === 'owner' || (view.isForGuests && (metrics === null || !('needsAllMetrics' in view)))

const pathSegments = (path: string): string[] => path.split('/').filter((part) => part !== '')

/** The view at a path, or undefined. */
export function viewAt(path: string): View | undefined {
  const segments = pathSegments(path)
  return VIEWS.find((one) => {
    const pattern = pathSegments(one.path)
    return (
      pattern.length === segments.length &&
      pattern.every((part, at) => part.startsWith(':') || part === segments[at])
    )
  })
}
