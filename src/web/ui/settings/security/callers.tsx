/** Settings, Security: the calls of the last 24 hours, what was refused of them, and to whom. */
import type { JSX } from 'preact'
import { Card } from '../../parts/card.tsx'
import { QueryView } from '../../parts/query_view.tsx'
import { count, instant, plural, share } from '../../words.ts'
import { AREA_TITLES, reasonRows, reasonTitle } from './reasons.ts'
import { type CallsData, useSecurity } from './security_queries.ts'

const MAX_REASONS = 20

/** A table with counts in all columns but the first. */
const Counts = ({ head, rows }: { head: string[]; rows: [string, ...number[]][] }): JSX.Element => (
  <table class="table">
    <thead>
      <tr>
        {head.map((title, at) => (
          <th key={title} class={at === 0 ? '' : 'number'}>
            {title}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(([name, ...counts]) => (
        <tr key={name}>
          <td>{name}</td>
          {counts.map((one, at) => (
            <td key={head[at + 1]} class="number">
              {count(one)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)

const sumOf = (areas: CallsData['areas']) => ({
  admitted: areas.reduce((sum, { admitted }) => sum + admitted, 0),
  refused: areas.reduce((sum, { refused }) => sum + refused, 0),
})

function Proof({ proof: { proved, unproved } }: CallsData): JSX.Element | null {
  const admitted = proved.admitted + unproved.admitted
  const refused = proved.refused + unproved.refused
  if (admitted + refused === 0) return <p class="small quiet">No SDK calls.</p>
  return (
    <p class="small">
      {admitted > 0 && (
        <>
          <strong>{share(proved.admitted / admitted)}</strong> of {plural(admitted, 'admitted SDK call')} came
          with proof: a device token or a secret key.{' '}
        </>
      )}
      {refused > 0 &&
        `Of ${plural(refused, 'refused SDK call')}, ${proved.refused === 0 ? 'none' : count(proved.refused)} did.`}
    </p>
  )
}

function Refused({ areas, addresses, networks }: CallsData): JSX.Element {
  const reasons = reasonRows(areas)
  if (reasons.length === 0) return <p class="small quiet">Nothing was refused.</p>
  return (
    <>
      <Counts
        head={['Refused because of', 'Calls']}
        rows={reasons
          .slice(0, MAX_REASONS)
          .map((reason) => [`${reasonTitle(reason)} (${AREA_TITLES[reason.area]})`, reason.calls])}
      />
      <Counts
        head={['Most refused networks', 'At least']}
        rows={networks.map(({ address, calls }) => [address, calls])}
      />
      <Counts
        head={['Most refused addresses', 'At least']}
        rows={addresses.map(({ address, calls }) => [address, calls])}
      />
    </>
  )
}

const Hours = ({ hours }: CallsData): JSX.Element => (
  <details>
    <summary>By hour</summary>
    <Counts
      head={['Hour', 'Admitted', 'Refused']}
      rows={hours.toReversed().map(({ began_at, areas }) => {
        const { admitted, refused } = sumOf(areas)
        return [instant(began_at), admitted, refused]
      })}
    />
  </details>
)

export const Callers = (): JSX.Element => (
  <Card
    title="Calls in 24 hours"
    about="Requests to this server. A call counts as refused if its answer is an error, with status 400 or above."
  >
    <QueryView result={useSecurity()} height={240}>
      {({ calls }) => (
        <div class="stack">
          <p class="small quiet">
            Counted in memory since {instant(calls.since_at)}. A restart forgets these numbers.
          </p>
          <Counts
            head={['Where', 'Admitted', 'Refused']}
            rows={calls.areas.map(({ area, admitted, refused }) => [AREA_TITLES[area], admitted, refused])}
          />
          <Proof {...calls} />
          <Refused {...calls} />
          <Hours {...calls} />
        </div>
      )}
    </QueryView>
  </Card>
)
