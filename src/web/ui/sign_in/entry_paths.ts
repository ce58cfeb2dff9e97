/** The paths of the sign-in pages, and the token in their fragment. */
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { SIGN_IN_PATHS, type SignInPath } from '../addresses.ts'

/** The sign-in path at a path, or null. */
export const entryPathOf = (path: string): SignInPath | null =>
  SIGN_IN_PATHS.find((entryPath) => entryPath === path) ?? null

/** The token in the URL of a sign-in path; empty if there is none. */
export const tokenIn = (path: string): string => (entryPathOf(path) ? location.hash.slice(1) : '')

/** Whether the URL contains a token that is used even if a session exists. */
export const isEntryPath = (path: string): boolean => path !== '/login' && tokenIn(path) !== ''

/** Redirects signed-in users from a sign-in path to the first view. */
export function RedirectHome(): null {
  const { route } = useLocation()
  useEffect(() => route('/', true), [])
  return null
}
