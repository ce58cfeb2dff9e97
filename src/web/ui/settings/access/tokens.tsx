/** Settings, Tokens: read tokens. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { InferOutput } from 'valibot'
import type { TokenAnswer, TokensAnswer } from '../../../../api/owner/tokens.ts'
import { Card } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { useQuery } from '../../queries.ts'
import { useSettings } from '../settings_queries.ts'
import { type CredentialKind, CredentialList } from './credential_list.tsx'

type Token = InferOutput<typeof TokenAnswer>
const PATH = '/api/v1/tokens'

/** The right to write annotations. */
function useRights() {
  const [canAnnotate, setCanAnnotate] = useState(false)
  const fields = (
    <fieldset class="plain-set choices">
      <legend class="small">Rights</legend>
      <label>
        <input
          type="checkbox"
          checked={canAnnotate}
          onChange={(event) => setCanAnnotate(event.currentTarget.checked)}
        />{' '}
        Add, change and delete annotations
      </label>
    </fieldset>
  )
  return { fields, body: { can_annotate: canAnnotate }, isReady: true }
}

const KIND: CredentialKind<Token> = {
  path: PATH,
  title: 'Read tokens',
  createLabel: 'New token',
  submitLabel: 'Create token',
  hint: 'Spreadsheet',
  icon: 'lock',
  about:
    'For scripts and other programs. A token reads all data of its apps. It changes nothing, except annotations if you allow it.',
  empty: 'No tokens',
  revokeText: 'Requests with this token are refused from now on.',
  secretOf: (made) => (made as Token & { token: string }).token,
  secretTitle: 'New token',
  secretNote: 'Copy it now: it is not shown again. Windfall stores only a hash of it.',
  column: {
    title: 'Last 4',
    of: (token) => (
      <>
        <code>{token.hint}</code>
        {token.can_annotate && <div class="tiny quiet">writes annotations</div>}
      </>
    ),
  },
  used: { title: 'Last used', at: (token) => token.used_at },
  useFields: useRights,
}

export function Tokens(): JSX.Element {
  const result = useQuery<InferOutput<typeof TokensAnswer>>(PATH)
  const base = useSettings().data?.base_url
  return (
    <>
      <CredentialList kind={KIND} result={{ ...result, data: result.data?.tokens }} />
      {base && (
        <Card title="Use a token">
          <div class="stack">
            <Copy
              isBlock
              label="the call"
              text={`curl -H 'Authorization: Bearer wf_…' \\\n  ${base}/api/v1/overview`}
            />
            <p class="small quiet">
              The <a href="/api/openapi.json">OpenAPI specification</a> lists every endpoint.
            </p>
          </div>
        </Card>
      )}
    </>
  )
}
