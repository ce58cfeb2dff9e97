/** The page of one digest, or of the preview of the newest, which prints on one sheet. */
import type { ComponentChildren, JSX } from 'preact'
import { useRoute } from 'preact-iso/router'
import { UnusedNotice } from '../frame/unused_notice.tsx'
import type { ViewParams } from '../frame/unused_params.ts'
import { BackLink } from '../parts/back_link.tsx'
import { Icon } from '../parts/icons.tsx'
import { Empty, QueryView } from '../parts/query_view.tsx'
import { Title } from '../parts/title.tsx'
import { type QueryResult, useQuery } from '../queries.ts'
import { useQueryParams, useScope } from '../scope.ts'
import { day, instant } from '../words.ts'
import { type Digest as Answer, KIND_TITLES, type Preview } from './digest_answer.ts'
import { Sheet } from './sheet.tsx'

export function Digest(): JSX.Element {
  const { params } = useRoute()
  return params.id === 'preview' ? <PreviewPage /> : <StoredPage id={params.id ?? ''} />
}

function StoredPage({ id }: { id: string }): JSX.Element {
  const result = useQuery<Answer>(`/api/v1/alerts/digests/${encodeURIComponent(id)}`)
  return (
    <DigestPage result={result} missing="This digest does not exist">
      {({ kind, digested_on, figures, channel_name, made_at }) =>
        figures === null ? (
          <Empty icon="clock" title={`The digest of ${day(digested_on)} was skipped`}>
            <p>Windfall was not running in the six hours after the time of digests.</p>
          </Empty>
        ) : (
          <Sheet title={KIND_TITLES[kind]} figures={figures}>
            Sent to {channel_name}. Read on {instant(made_at)}; later corrections do not change it.
          </Sheet>
        )
      }
    </DigestPage>
  )
}

const PREVIEW_PARAMS = { kind: Object.keys(KIND_TITLES) }

function PreviewPage(): JSX.Element {
  const [{ kind = 'daily' }] = useQueryParams()
  const { scope } = useScope()
  const result = useQuery<Preview>('/api/v1/alerts/digests/preview', {
    kind,
    organization: scope.organization,
  })
  return (
    <DigestPage params={PREVIEW_PARAMS} result={result} missing="No app is connected yet">
      {(preview) => (
        <Sheet title={KIND_TITLES[preview.kind]} figures={preview.figures}>
          Preview with current figures. Nothing is stored or sent.
        </Sheet>
      )}
    </DigestPage>
  )
}

type PageProps<Data> = {
  params?: ViewParams
  result: QueryResult<Data>
  /** The title where the server answers that there is none. */
  missing: string
  children: (data: Data) => ComponentChildren
}

function DigestPage<Data extends { kind: Answer['kind'] }>({
  params = {},
  result,
  missing,
  children,
}: PageProps<Data>): JSX.Element {
  return (
    <main class="page narrow digest" id="content">
      <UnusedNotice params={params} />
      <BackLink to="/digests" title="Digests" />
      <header class="page-head">
        <Title>{result.data ? KIND_TITLES[result.data.kind] : 'Digest'}</Title>
        <button
          type="button"
          class="button"
          disabled={result.data === undefined}
          onClick={() => window.print()}
        >
          <Icon name="print" /> Print
        </button>
      </header>
      <section class="card card-pad">
        {result.problem?.status === 404 && !result.data ? (
          <Empty icon="search" title={missing}>
            <p>{result.problem.message}</p>
          </Empty>
        ) : (
          <QueryView result={result} height={560}>
            {children}
          </QueryView>
        )}
      </section>
    </main>
  )
}
