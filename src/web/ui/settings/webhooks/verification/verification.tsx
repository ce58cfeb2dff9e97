/** How a receiver verifies the requests of an endpoint: code in several languages. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Card } from '../../../parts/card.tsx'
import { CodeProse } from '../../../parts/code_prose.tsx'
import { Copy } from '../../../parts/copy.tsx'
import { Segments } from '../../../parts/popover.tsx'
import type { Endpoint } from '../webhook_queries.ts'
import { headerPrefix, LANGUAGES, type Language, SECRET_VARIABLE, type Variant } from './languages.ts'
import { variantsOf, verificationSnippet } from './snippets.ts'

const VARIANT_TITLES: Record<Variant, string> = { library: 'standardwebhooks', plain: 'No package' }
const LANGUAGE_CHOICES = LANGUAGES.map((value) => ({ value, title: value }))

const about = (kind: Endpoint['kind']): string =>
  kind === 'events'
    ? `Requests follow Standard Webhooks. Put the secret into the environment variable \`${SECRET_VARIABLE}\` of your backend. Verify each request before you use it, respond with 200, and skip a \`webhook-id\` that you already have.`
    : `The body is Apple’s, byte for byte: verify Apple’s signature in it as if Apple had sent it. The \`${headerPrefix(kind)}-\` headers prove that the request came through this server. Put the secret into the environment variable \`${SECRET_VARIABLE}\` of your backend.`

/** The code is folded once the receiver accepted a request. */
export function Verification({ endpoint }: { endpoint: Endpoint }): JSX.Element {
  const { kind, health } = endpoint
  const [language, setLanguage] = useState<Language>('Node')
  const [chosen, setVariant] = useState<Variant>('library')
  const variants = variantsOf(language)
  const variant = variants.includes(chosen) ? chosen : 'plain'
  return (
    <Card title="Verify requests">
      <details open={health.last_success_at === null}>
        <summary class="small">Code for the receiver</summary>
        <div class="stack details-body">
          <p class="small quiet">
            <CodeProse text={about(kind)} />
          </p>
          <div class="row">
            <Segments title="Language" value={language} choices={LANGUAGE_CHOICES} onPick={setLanguage} />
            {variants.length > 1 && (
              <Segments
                title="Package"
                value={variant}
                choices={variants.map((value) => ({ value, title: VARIANT_TITLES[value] }))}
                onPick={setVariant}
              />
            )}
          </div>
          <Copy
            isBlock
            label={`the ${language} code`}
            text={verificationSnippet(language, variant, kind).trimEnd()}
          />
        </div>
      </details>
    </Card>
  )
}
