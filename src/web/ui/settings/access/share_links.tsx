/** Settings, Guests: share links. */
import type { JSX } from 'preact'
import type { InferOutput } from 'valibot'
import type { LinksAnswer } from '../../../../api/owner/share_links.ts'
import { useQuery } from '../../queries.ts'
import { CredentialList } from './credential_list.tsx'
import { LINK_KIND, LINKS_PATH } from './share_link_form.tsx'

export function Guests(): JSX.Element {
  const result = useQuery<InferOutput<typeof LinksAnswer>>(LINKS_PATH)
  return <CredentialList kind={LINK_KIND} result={{ ...result, data: result.data?.share_links }} />
}
