/** What configured policies for SDK calls would have refused of the calls of the last week. */
import { openCallCounts } from '../attribution/devices/call_counts.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config/settings.ts'
import type { Reader } from '../store/reader.ts'

type Policies = Pick<Config, 'organizations' | 'attest'>

/** One sentence for each policy that would have refused calls. `organizations` are those that the file declares. */
export function policyForecasts({ organizations, attest }: Policies, reader: Reader, clock: Clock): string[] {
  const counts = openCallCounts(reader, clock)
  const appsOf = reader.prepare<[string], { id: string }>(`
    select apps.id from apps join organizations on organizations.id = organization_id
    where slug = ? and apps.gone_at is null`)
  const all = reader.prepare<[], { id: string }>('select id from apps where gone_at is null')
  const found = organizations.map(({ slug, sdk_auth }) => {
    const { calls, refused_by } = counts.forecast(appsOf.all(slug).map(({ id }) => id))
    const refused = sdk_auth === 'any' ? 0 : refused_by[sdk_auth]
    return { policy: `sdk_auth = "${sdk_auth}" of ${slug}`, refused, calls }
  })
  if (attest.assertions === 'required') {
    const { calls, refused_by } = counts.forecast(all.all().map(({ id }) => id))
    found.push({ policy: 'assertions = "required"', refused: refused_by.required_assertions, calls })
  }
  return found
    .filter(({ refused }) => refused > 0)
    .map(
      ({ policy, refused, calls }) =>
        `${policy} would have refused ${refused.toLocaleString('en-US')} of the ${calls.toLocaleString('en-US')} calls of the last seven days`,
    )
}
