/** Read tokens for programs: made, listed, taken back. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { TokenAnswer, TokensAnswer } from '../../../../api/owner/tokens.ts'
import { Card } from '../../parts/card.tsx'
import { Copy } from '../../parts/copy.tsx'
import { useQuery } from '../../queries.ts'
import { useStatus } from '../status_queries.ts'
import { type CredentialKind, CredentialList } from './credential_list.tsx'

type Token = InferOutput<typeof TokenAnswer>
const PATH = '/api/v1/tokens'

const KIND: CredentialKind<Token> = {
  path: PATH,
  title: 'Read tokens',
  createLabel: 'New token',
  hint: 'Spreadsheet',
  icon: 'lock',
  about: 'For scripts and other programs. A token reads everything about its apps, and changes nothing.',
  empty: 'No program has a token',
  revokeText: 'Whatever uses it is refused from now on.',
  secretOf: (made) => (made as Token & { token: string }).token,
  secretTitle: 'The new token',
  secretNote: 'Keep it now: it is not shown again. Windfall itself keeps only a fingerprint of it.',
  column: { title: 'Ends in', of: (token) => <code>{token.hint}</code> },
  used: { title: 'Used', at: (token) => token.used_at },
}

export function Tokens(): JSX.Element {
  const result = useQuery<InferOutput<typeof TokensAnswer>>(PATH)
  const base = useStatus().data?.base_url
  return (
    <>
      <CredentialList kind={KIND} result={{ ...result, data: result.data?.tokens }} />
      {base && (
        <Card title="Use one">
          <div class="stack">
            <Copy
              isBlock
              label="the call"
              text={`curl -H 'Authorization: Bearer wf_…' \\\n  ${base}/api/v1/overview`}
            />
            <p class="small quiet">
              Every endpoint is in the <a href="/api/openapi.json">OpenAPI description</a>.
            </p>
          </div>
        </Card>
      )}
    </>
  )
}
