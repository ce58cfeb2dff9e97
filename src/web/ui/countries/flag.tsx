/** The flag of a storefront. It is decoration: the name of the country is always beside it. */
import type { JSX } from 'preact'
import { twoLettersOf } from './names.ts'

/** The version of the flags, which is part of their file names; build.mjs defines it. */
declare const FLAGS_VERSION: string

const hide = (event: { currentTarget: HTMLImageElement }): void => {
  event.currentTarget.hidden = true
}

/** `code` has three letters, as in Apple's data. Without a flag, as offline, nothing is shown. */
export function Flag({ code }: { code: string | null }): JSX.Element | null {
  const letters = twoLettersOf(code)
  if (letters === null) return null
  const address = `/assets/flag-${letters}-${FLAGS_VERSION}.svg`
  return <img class="flag" src={address} alt="" width={18} height={12} loading="lazy" onError={hide} />
}
