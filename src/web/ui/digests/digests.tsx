/** The list of digests, and links to the previews of the newest. */
import type { JSX } from 'preact'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import { usePagedQuery } from '../paged_queries.ts'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { Scroll } from '../parts/scroll.tsx'
import { ShowMore } from '../parts/show_more.tsx'
import { TableHead } from '../parts/table_head.tsx'
import { Title } from '../parts/title.tsx'
import { useScope } from '../scope.ts'
import { day, instant, money } from '../words.ts'
import { type Digests as Answer, KIND_TITLES, periodText } from './digest_answer.ts'

const HEADINGS = [
  { title: 'Digest' },
  { title: 'Days' },
  { title: 'Revenue', isNumber: true },
  { title: 'MRR', isNumber: true },
  { title: 'Channel' },
  { title: 'Made' },
]

export function Digests(): JSX.Element {
  const { scope, href } = useScope()
  const paged = usePagedQuery<Answer>(
    '/api/v1/alerts/digests',
    { organization: scope.organization },
    'before',
  )
  const digests = paged.pages.flatMap((page) => page.digests)
  return (
    <main class="page" id="content">
      <UnusedNotice />
      <header class="page-head">
        <Title>Digests</Title>
        <div class="row">
          <a class="button" href={href('/digests/preview')}>
            Preview daily
          </a>
          <a class="button" href={href('/digests/preview', { kind: 'weekly' })}>
            Preview weekly
          </a>
        </div>
      </header>
      <section class="card">
        <h2 class="spoken">All digests</h2>
        <QueryView result={paged.first} height={320}>
          {() => (digests.length === 0 ? <NoDigests /> : <Table digests={digests} />)}
        </QueryView>
        <ShowMore {...paged} />
      </section>
    </main>
  )
}

const NoDigests = (): JSX.Element => (
  <Empty icon="bell" title="No digests yet">
    <p>
      A digest is made each morning, or each Monday, for every channel of alerts that has digests turned on. A
      preview shows what the next one contains.
    </p>
  </Empty>
)

const Table = ({ digests }: Pick<Answer, 'digests'>): JSX.Element => (
  <Scroll label="Digests, newest first">
    <table class="table">
      <TableHead headings={HEADINGS} />
      <tbody>
        {digests.map((one) => (
          <Row key={one.id} digest={one} />
        ))}
      </tbody>
    </table>
  </Scroll>
)

function Row({ digest }: { digest: Answer['digests'][number] }): JSX.Element {
  const { href } = useScope()
  const { id, kind, digested_on, from_on, until_on, currency, made_at, channel_name } = digest
  return (
    <tr>
      <th scope="row">
        <a href={href(`/digests/${id}`)}>{KIND_TITLES[kind]}</a>
      </th>
      <td class="nowrap">
        {from_on === null || until_on === null
          ? `Skipped on ${day(digested_on)}`
          : periodText(from_on, until_on)}
      </td>
      <td class="number">{money(digest.revenue_milli, currency)}</td>
      <td class="number">{money(digest.mrr_milli, currency)}</td>
      <td>{channel_name}</td>
      <td class="nowrap">{instant(made_at)}</td>
    </tr>
  )
}
