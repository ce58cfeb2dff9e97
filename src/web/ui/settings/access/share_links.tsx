/** Settings, Guests: share links. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { LinksAnswer } from '../../../../api/owner/share_links.ts'
import { useQuery } from '../../queries.ts'
import { CredentialList } from './credential_list.tsx'
import { LINK_KIND, LINKS_PATH } from './share_link_form.tsx'

/** How soon the list shows that a guest opened a link. */
const INTERVAL_MS = 15_000

export function Guests(): JSX.Element {
  const result = useQuery<InferOutput<typeof LinksAnswer>>(LINKS_PATH, {}, { interval_ms: INTERVAL_MS })
  return <CredentialList kind={LINK_KIND} result={{ ...result, data: result.data?.share_links }} />
}
