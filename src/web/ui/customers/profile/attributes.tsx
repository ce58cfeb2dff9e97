/** The attribute table of a user: last reported and verified values. */
import type { JSX } from 'preact'
import { shownText } from '../../../../attribution/shown_text.ts'
import { Scroll } from '../../parts/scroll.tsx'
import { TableHead } from '../../parts/table_head.tsx'
import { type AttributeRow, attributeRows } from './attribute_rows.ts'
import type { User } from './profile_answer.ts'

export function Attributes({ user }: { user: User }): JSX.Element | null {
  const rows = attributeRows(user)
  if (rows.length === 0) return null
  const isAnyProved = rows.some(({ proved }) => proved !== null)
  const columns = [{ title: 'Attribute' }, { title: isAnyProved ? 'Last reported' : 'Reported' }]
  return (
    <div class="stack-s">
      <Scroll label={`Attributes of ${user.app_user_id}`}>
        <table class="table attributes">
          <caption class="spoken">Attributes</caption>
          <TableHead headings={isAnyProved ? [...columns, { title: 'Verified' }] : columns} />
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                <th scope="row">{shownText(row.key)}</th>
                <td>{row.last}</td>
                {isAnyProved && <Proved row={row} />}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="small quiet">
        {isAnyProved
          ? 'Verified attributes came with the secret key or from an attested device. Searches and charts use the verified value if there is one.'
          : 'These attributes are not verified: none came with the secret key or from an attested device.'}
      </p>
    </div>
  )
}

function Proved({ row: { proved, differs } }: { row: AttributeRow }): JSX.Element {
  if (proved === null)
    return (
      <td>
        <span class="quiet">not verified</span>
      </td>
    )
  return (
    <td>
      {proved} {differs && <span class="badge warn">differs from last reported</span>}
    </td>
  )
}
