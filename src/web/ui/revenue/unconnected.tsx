/** Tells the owner about money in Apple’s reports of apps that are not connected, which no figure contains. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { UnconnectedAnswer } from '../../../api/metrics/unconnected.ts'
import { useOverview } from '../overview.ts'
import { useQuery } from '../queries.ts'
import { daysOf, displayQuery, useScope } from '../scope.ts'
import { useSession } from '../session.ts'
import { money } from '../words.ts'

type Answer = InferOutput<typeof UnconnectedAnswer>
type App = Answer['apps'][number]

/** The name of the app and its money; what has no rate is in its own currency. */
function textOf({ name, sku, apple_id, gross_milli, currency, not_converted }: App): string {
  const others = Object.entries(not_converted).map(([code, milli]) => money(milli, code))
  return `${name ?? sku ?? apple_id}, ${[money(gross_milli, currency), ...others].join(' + ')}`
}

/**
 * A line with the apps and their money: in the range of the scope, or in all days that reports have. Nothing for guests,
 * or without such money.
 */
export function Unconnected({ isInRange = false }: { isInRange?: boolean }): JSX.Element | null {
  const { scope } = useScope()
  const { overview } = useOverview(scope)
  const isShown =
    useSession().state === 'owner' && scope.apps.length === 0 && scope.environment === 'production'
  const days = isInRange && overview ? daysOf(scope, overview.today_on, null) : {}
  const { data } = useQuery<Answer>(
    '/api/v1/unconnected-revenue',
    { ...days, ...displayQuery(scope) },
    { wait: !isShown || overview === undefined },
  )
  const apps = data?.apps.filter(({ organization_id }) => organization_id === overview?.organization_id)
  if (!isShown || !apps?.length) return null
  return (
    <p class="small quiet">
      Not connected: {apps.map(textOf).join('; ')}. Apple’s reports contain this money, and no figure does.
    </p>
  )
}
