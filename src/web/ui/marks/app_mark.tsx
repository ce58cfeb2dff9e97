/** The icon of an app, or the first letter of its name. It is decoration: the name is always beside it. */
import type { JSX } from 'preact'
import { appName, useApps } from '../apps.ts'
import { Initial } from './initial.tsx'

export function AppMark({ id }: { id: string }): JSX.Element {
  const apps = useApps().data?.apps
  const icon = apps?.find((app) => app.id === id)?.icon ?? null
  if (icon === null) return <Initial name={appName(apps, id)} id={id} class="of-app" />
  return <img class="initial of-app" src={icon} alt="" width={18} height={18} loading="lazy" />
}
